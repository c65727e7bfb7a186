// SPDX-License-Identifier: Apache-2.0
#include "host/debug_lines.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "host/elf_sections.h"

namespace aclsim {

namespace {

// Numbers of the DWARF standard (section 7), as far as lines need them.
enum Tag : uint64_t { kInlined = 0x1d, kFunction = 0x2e };
enum Attribute : uint64_t {
  kNameAttribute = 0x03,
  kLineProgram = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kFolder = 0x1b,
  kAbstractOrigin = 0x31,
  kArtificial = 0x34,
  kDeclFile = 0x3a,
  kSpecification = 0x47,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kStrOffsetsBase = 0x72,
  kAddrBase = 0x73,
  kRnglistsBase = 0x74,
  kDwoName = 0x76,
  kGnuDwoName = 0x2130,
  kGnuAddrBase = 0x2133,
};
enum Form : uint64_t {
  kAddr = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRefAddr = 0x10,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kIndirect = 0x16,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kRefSup4 = 0x1c,
  kStrpSup = 0x1d,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kRefSig8 = 0x20,
  kImplicitConst = 0x21,
  kLoclistx = 0x22,
  kRnglistx = 0x23,
  kRefSup8 = 0x24,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx2 = 0x2a,
  kAddrx3 = 0x2b,
  kAddrx4 = 0x2c,
  kGnuAddrIndex = 0x1f01,
  kGnuStrIndex = 0x1f02,
  kGnuRefAlt = 0x1f20,
  kGnuStrpAlt = 0x1f21,
};

constexpr char kMarker[] = "aclsimToolkitHeaders";
constexpr std::string_view kMarkerFile = "/aclsim/toolkit_headers.h";
// Headers that tell the folder of a standard library: nearly all of its code includes one of them.
constexpr std::string_view kStandardFiles[] = {"/bits/stl_algobase.h", "/bits/move.h",
                                               "/bits/c++config.h",    "/bits/basic_string.h",
                                               "/bits/stl_vector.h",   "/__config"};

constexpr size_t kMostRanges = 1 << 16;  // of one entry: more is damage

struct Range {
  uint64_t begin = 0, end = 0;

  bool Holds(uint64_t address) const { return begin <= address && address < end; }
};

struct Row {
  uint64_t address = 0;
  uint32_t file = 0, line = 0;
};

// The rows of one contiguous piece of code say this.
struct Sequence {
  Range range;
  std::vector<Row> rows;
};

struct Specification {
  uint64_t attribute = 0, form = 0;
  int64_t constant = 0;
};

struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<Specification> attributes;
};
using Abbreviations = std::map<uint64_t, Abbreviation>;

std::string Joined(const std::string& folder, const std::string& name) {
  return name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
}

}  // namespace

struct DebugLines::Sections {
  using Bytes = std::vector<uint8_t>;

  ElfSections elf;
  Bytes info = Take(".debug_info"), abbrev = Take(".debug_abbrev"), line = Take(".debug_line"),
        str = Take(".debug_str"), lineStr = Take(".debug_line_str"), ranges = Take(".debug_ranges"),
        rnglists = Take(".debug_rnglists"), addr = Take(".debug_addr"),
        strOffsets = Take(".debug_str_offsets");

  Bytes Take(const char* name) { return std::move(elf.byName[name]); }
};

// Reads forward through a part of a section; behind its end there are zeros, and `bad` is set.
class DebugLines::Reader {
 public:
  Reader(const std::vector<uint8_t>& section, uint64_t at, uint64_t end = UINT64_MAX)
      : data_(section.data()), at_(at), end_(std::min<uint64_t>(end, section.size())) {
    bad_ = at_ > end_;
  }

  uint64_t at() const { return at_; }
  bool ok() const { return !bad_; }
  bool more() const { return !bad_ && at_ < end_; }

  uint64_t Fixed(unsigned bytes) {
    uint64_t value = 0;
    if (Has(bytes)) {
      std::memcpy(&value, data_ + at_, bytes);  // hosts are little-endian
      at_ += bytes;
    }
    return value;
  }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (unsigned shift = 0; Has(1); shift += 7) {
      const uint8_t byte = data_[at_++];
      value |= shift < 64 ? uint64_t{byte & 0x7fU} << shift : 0;
      if (byte < 0x80) {
        return value;
      }
    }
    return 0;
  }
  int64_t Signed() {
    uint64_t value = 0;
    for (unsigned shift = 0; Has(1);) {
      const uint8_t byte = data_[at_++];
      value |= shift < 64 ? uint64_t{byte & 0x7fU} << shift : 0;
      shift += 7;
      if (byte < 0x80) {
        return static_cast<int64_t>((byte & 0x40) != 0 && shift < 64 ? value | ~uint64_t{0} << shift
                                                                     : value);
      }
    }
    return 0;
  }
  std::string_view Text() {
    const uint8_t* const zero =
        Has(1) ? static_cast<const uint8_t*>(std::memchr(data_ + at_, 0, end_ - at_)) : nullptr;
    if (zero == nullptr) {
      bad_ = true;
      return "";
    }
    const auto* const begin = reinterpret_cast<const char*>(data_ + at_);
    at_ = static_cast<uint64_t>(zero - data_) + 1;
    return begin;
  }
  void Skip(uint64_t bytes) {
    if (Has(bytes)) {
      at_ += bytes;
    }
  }
  // A length as units and tables begin with it; the end of what it is the length of. Sets the size of offsets.
  uint64_t Length(unsigned* offsetBytes) {
    uint64_t length = Fixed(4);
    *offsetBytes = length == 0xffffffff ? 8 : 4;
    if (*offsetBytes == 8) {
      length = Fixed(8);
    }
    return Has(length) ? at_ + length : end_;
  }

 private:
  bool Has(uint64_t bytes) {
    bad_ = bad_ || bytes > end_ - at_;
    return !bad_;
  }

  const uint8_t* data_;
  uint64_t at_, end_;
  bool bad_ = false;
};

// A unit of .debug_info. What its header does not say is read when an address asks for it.
struct DebugLines::Unit {
  struct Value {
    uint64_t form = 0, number = 0;
    std::string_view text;

    explicit operator bool() const { return form != 0; }
  };
  // A debugging information entry, as far as lines need it.
  struct Entry {
    uint64_t at = 0;
    const Abbreviation* kind = nullptr;  // null: the end of a list of children
    Value name, low, high, ranges, callFile, callLine, declFile, lineProgram, folder, split, origin,
        artificial;
  };
  struct Function {
    std::vector<Range> ranges;
    uint64_t at = 0;
  };

  const Sections* sections = nullptr;
  uint64_t begin = 0, entries = 0, end = 0;
  unsigned version = 0, offsetBytes = 4, addressBytes = 8;
  Abbreviations abbreviations;
  uint64_t strOffsetsBase = 0, addrBase = 0, rnglistsBase = 0, lowPc = 0;
  std::string folder;
  std::optional<uint64_t> lineProgram;
  std::vector<Range> ranges;
  bool split = false;
  bool linked = false;

  bool whole = false;  // whether what follows has been read
  std::vector<Function> functions;
  std::vector<Sequence> sequences;
  std::vector<std::string> files;
  std::string toolkit;  // its include folder
  std::vector<std::string> standard;

  std::string_view TextAt(const std::vector<uint8_t>& section, uint64_t at) const {
    return Reader(section, at).Text();
  }

  std::string_view IndexedText(uint64_t index) const {
    Reader offset(sections->strOffsets, strOffsetsBase + index * offsetBytes);
    const uint64_t at = offset.Fixed(offsetBytes);
    return offset.ok() ? TextAt(sections->str, at) : "";
  }

  uint64_t IndexedAddress(uint64_t index) const {
    return Reader(sections->addr, addrBase + index * addressBytes).Fixed(addressBytes);
  }

  // A form that is not known ends the reading of the unit: nobody knows how long it is. However many cases it has, it is a table.
  bool Read(Reader& reader, const Specification& what, Value* value) const {
    uint64_t form = what.form;
    for (int i = 0; form == kIndirect && i < 2; ++i) {
      form = reader.Unsigned();
    }
    value->form = form;
    if (const size_t bytes = BytesOf(form)) {
      value->number = reader.Fixed(bytes);
      return reader.ok();
    }
    switch (form) {
      case kData16:
        reader.Skip(16);
        break;
      case kSdata:
        value->number = static_cast<uint64_t>(reader.Signed());
        break;
      case kUdata:
      case kRefUdata:
      case kStrx:
      case kAddrx:
      case kLoclistx:
      case kRnglistx:
      case kGnuAddrIndex:
      case kGnuStrIndex:
        value->number = reader.Unsigned();
        break;
      case kString:
        value->text = reader.Text();
        break;
      case kBlock1:
      case kBlock2:
      case kBlock4:
        reader.Skip(reader.Fixed(form == kBlock1 ? 1 : form == kBlock2 ? 2 : 4));
        break;
      case kBlock:
      case kExprloc:
        reader.Skip(reader.Unsigned());
        break;
      case kFlagPresent:
        value->number = 1;
        break;
      case kImplicitConst:
        value->number = static_cast<uint64_t>(what.constant);
        break;
      default:
        return false;
    }
    return reader.ok();
  }

  // The size of a form that is a number of so many bytes; 0: it is another one.
  size_t BytesOf(uint64_t form) const {
    constexpr std::pair<uint64_t, uint8_t> kFixed[] = {
        {kData1, 1},  {kRef1, 1},  {kFlag, 1},  {kStrx1, 1},   {kAddrx1, 1},
        {kData2, 2},  {kRef2, 2},  {kStrx2, 2}, {kAddrx2, 2},  {kStrx3, 3},
        {kAddrx3, 3}, {kData4, 4}, {kRef4, 4},  {kRefSup4, 4}, {kStrx4, 4},
        {kAddrx4, 4}, {kData8, 8}, {kRef8, 8},  {kRefSup8, 8}, {kRefSig8, 8}};
    for (const auto& [fixed, bytes] : kFixed) {
      if (form == fixed) return bytes;
    }
    if (form == kAddr || (form == kRefAddr && version <= 2)) return addressBytes;
    constexpr uint64_t kOffsets[] = {kSecOffset, kStrp,      kLineStrp,
                                     kStrpSup,   kGnuRefAlt, kGnuStrpAlt};
    const bool offset =
        std::find(std::begin(kOffsets), std::end(kOffsets), form) != std::end(kOffsets);
    return offset || form == kRefAddr ? offsetBytes : 0;
  }

  std::string_view Text(const Value& value) const {
    switch (value.form) {
      case kString:
        return value.text;
      case kStrp:
        return TextAt(sections->str, value.number);
      case kLineStrp:
        return TextAt(sections->lineStr, value.number);
      case kStrx:
      case kStrx1:
      case kStrx2:
      case kStrx3:
      case kStrx4:
        return IndexedText(value.number);
      default:
        return "";
    }
  }

  static bool IsAddress(const Value& value) {
    return value.form == kAddr || value.form == kAddrx || value.form == kGnuAddrIndex ||
           (value.form >= kAddrx1 && value.form <= kAddrx4);
  }

  uint64_t Address(const Value& value) const {
    return value.form == kAddr ? value.number : IndexedAddress(value.number);
  }

  bool ReadEntry(Reader& reader, Entry* entry) const {
    *entry = Entry();
    entry->at = reader.at();
    const uint64_t code = reader.Unsigned();
    if (code == 0) {
      return reader.ok();
    }
    const auto found = abbreviations.find(code);
    if (found == abbreviations.end()) {
      return false;
    }
    entry->kind = &found->second;
    for (const Specification& what : entry->kind->attributes) {
      Value value;
      if (!Read(reader, what, &value)) {
        return false;
      }
      switch (what.attribute) {
        case kNameAttribute:
          entry->name = value;
          break;
        case kLineProgram:
          entry->lineProgram = value;
          break;
        case kLowPc:
          entry->low = value;
          break;
        case kHighPc:
          entry->high = value;
          break;
        case kFolder:
          entry->folder = value;
          break;
        case kAbstractOrigin:
        case kSpecification:
          entry->origin = value;
          break;
        case kArtificial:
          entry->artificial = value;
          break;
        case kDeclFile:
          entry->declFile = value;
          break;
        case kRanges:
          entry->ranges = value;
          break;
        case kCallFile:
          entry->callFile = value;
          break;
        case kCallLine:
          entry->callLine = value;
          break;
        case kDwoName:
        case kGnuDwoName:
          entry->split = value;
          break;
        default:
          break;
      }
    }
    return true;
  }

  void ReadAbbreviations(uint64_t at) {
    Reader reader(sections->abbrev, at);
    for (uint64_t code; (code = reader.Unsigned()) != 0;) {
      Abbreviation& added = abbreviations[code];
      added = {reader.Unsigned(), reader.Fixed(1) != 0, {}};
      while (reader.ok()) {
        Specification what{reader.Unsigned(), reader.Unsigned()};
        if (what.form == kImplicitConst) {
          what.constant = reader.Signed();
        }
        if (what.attribute == 0 && what.form == 0) {
          break;
        }
        added.attributes.push_back(what);
      }
    }
  }

  // The bases of what the first entry has by number may stand behind it.
  void ReadBases(Reader reader) {
    const auto found = abbreviations.find(reader.Unsigned());
    if (found == abbreviations.end()) {
      return;
    }
    for (const Specification& what : found->second.attributes) {
      Value value;
      if (!Read(reader, what, &value)) {
        return;
      }
      if (what.attribute == kStrOffsetsBase) {
        strOffsetsBase = value.number;
      } else if (what.attribute == kAddrBase || what.attribute == kGnuAddrBase) {
        addrBase = value.number;
      } else if (what.attribute == kRnglistsBase) {
        rnglistsBase = value.number;
      }
    }
  }

  std::vector<Range> RangesOf(const Entry& entry) const {
    if (entry.ranges) {
      return version >= 5 ? ListedRanges(entry.ranges) : OldRanges(entry.ranges.number);
    }
    if (!entry.low || !entry.high) {
      return {};
    }
    const uint64_t low = Address(entry.low);
    return {{low, IsAddress(entry.high) ? Address(entry.high) : low + entry.high.number}};
  }

  std::vector<Range> OldRanges(uint64_t at) const {
    std::vector<Range> found;
    uint64_t base = lowPc;
    for (Reader reader(sections->ranges, at); reader.more() && found.size() < kMostRanges;) {
      const uint64_t first = reader.Fixed(addressBytes);
      const uint64_t second = reader.Fixed(addressBytes);
      if (first == 0 && second == 0) {
        break;
      }
      if (first == (addressBytes == 8 ? UINT64_MAX : UINT32_MAX)) {
        base = second;
      } else {
        found.push_back({base + first, base + second});
      }
    }
    return found;
  }

  std::vector<Range> ListedRanges(const Value& where) const {
    uint64_t at = where.number;
    if (where.form == kRnglistx) {
      at = rnglistsBase +
           Reader(sections->rnglists, rnglistsBase + where.number * offsetBytes).Fixed(offsetBytes);
    }
    std::vector<Range> found;
    uint64_t base = lowPc;
    for (Reader reader(sections->rnglists, at); reader.more() && found.size() < kMostRanges;) {
      uint64_t first = 0;
      switch (reader.Fixed(1)) {  // DW_RLE_*
        case 1:
          base = IndexedAddress(reader.Unsigned());
          break;
        case 2:
          first = IndexedAddress(reader.Unsigned());
          found.push_back({first, IndexedAddress(reader.Unsigned())});
          break;
        case 3:
          first = IndexedAddress(reader.Unsigned());
          found.push_back({first, first + reader.Unsigned()});
          break;
        case 4:
          first = base + reader.Unsigned();
          found.push_back({first, base + reader.Unsigned()});
          break;
        case 5:
          base = reader.Fixed(addressBytes);
          break;
        case 6:
          first = reader.Fixed(addressBytes);
          found.push_back({first, reader.Fixed(addressBytes)});
          break;
        case 7:
          first = reader.Fixed(addressBytes);
          found.push_back({first, first + reader.Unsigned()});
          break;
        default:
          return found;
      }
    }
    return found;
  }

  // The header and the first entry, at an offset of .debug_info. False: nothing that has lines.
  bool ReadHeader(const Sections& from, uint64_t at) {
    sections = &from;
    begin = at;
    Reader reader(from.info, at);
    end = reader.Length(&offsetBytes);
    version = static_cast<unsigned>(reader.Fixed(2));
    if (!reader.ok() || version < 2 || version > 5) {
      return false;
    }
    uint64_t abbrev = 0;
    if (version >= 5) {
      const uint64_t kind = reader.Fixed(1);
      addressBytes = static_cast<unsigned>(reader.Fixed(1));
      abbrev = reader.Fixed(offsetBytes);
      if (kind == 4) {  // DW_UT_skeleton: the rest is in another file, by this number
        reader.Skip(8);
      } else if (kind != 1 && kind != 3) {
        return false;
      }
    } else {
      abbrev = reader.Fixed(offsetBytes);
      addressBytes = static_cast<unsigned>(reader.Fixed(1));
    }
    if (!reader.ok() || (addressBytes != 4 && addressBytes != 8)) {
      return false;
    }
    entries = reader.at();
    ReadAbbreviations(abbrev);
    // Without the attribute the first of a section is meant, behind its header.
    strOffsetsBase = addrBase = offsetBytes == 8 ? 16 : 8;
    ReadBases(Reader(from.info, entries, end));
    Reader first(from.info, entries, end);
    Entry entry;
    if (!ReadEntry(first, &entry) || entry.kind == nullptr) {
      return false;
    }
    folder = Text(entry.folder);
    lowPc = entry.low ? Address(entry.low) : 0;
    ranges = RangesOf(entry);
    split = static_cast<bool>(entry.split);
    linked = Text(entry.name) == "<artificial>";
    if (entry.lineProgram) {
      lineProgram = entry.lineProgram.number;
    }
    return true;
  }

  void ReadWhole() {
    if (whole) {
      return;
    }
    whole = true;
    if (lineProgram) {
      ReadLineProgram(*lineProgram);
    }
    Reader reader(sections->info, entries, end);
    for (Entry entry; reader.more() && ReadEntry(reader, &entry);) {
      if (entry.kind == nullptr || entry.kind->tag != kFunction) {
        continue;
      }
      if (std::vector<Range> its = RangesOf(entry); !its.empty()) {
        functions.push_back({std::move(its), entry.at});
      }
      if (toolkit.empty() && entry.name && entry.declFile && Text(entry.name) == kMarker) {
        const std::string& file = FileAt(entry.declFile.number);
        if (file.ends_with(kMarkerFile)) {
          toolkit = file.substr(0, file.size() - kMarkerFile.size() + 1);
        }
      }
    }
    for (const std::string& file : files) {
      for (const std::string_view name : kStandardFiles) {
        if (file.ends_with(name)) {
          standard.push_back(file.substr(0, file.size() - name.size() + 1));
        }
      }
    }
  }

  const std::string& FileAt(uint64_t number) const {
    static const std::string none;
    return number < files.size() ? files[number] : none;
  }

  // The files of a line program's header, by the numbers that rows and entries have for them.
  void ReadFiles(Reader& reader, unsigned programVersion) {
    if (programVersion >= 5) {
      const std::vector<std::string> folders = ReadNames(reader, {});
      files = ReadNames(reader, folders);
      return;
    }
    std::vector<std::string> folders = {folder};
    for (std::string_view name; reader.more() && !(name = reader.Text()).empty();) {
      folders.push_back(Joined(folder, std::string(name)));
    }
    files = {""};
    for (std::string_view name; reader.more() && !(name = reader.Text()).empty();) {
      AddFile(name, folders, reader.Unsigned());
      reader.Unsigned();
      reader.Unsigned();
    }
  }

  void AddFile(std::string_view name, const std::vector<std::string>& folders, uint64_t of) {
    const std::string joined =
        Joined(of < folders.size() ? folders[of] : folder, std::string(name));
    files.push_back(std::filesystem::path(joined).lexically_normal().string());
  }

  // A list of DWARF 5. Of files: each in one of the folders.
  std::vector<std::string> ReadNames(Reader& reader, const std::vector<std::string>& folders) {
    std::vector<std::pair<uint64_t, Specification>> format;
    for (uint64_t left = reader.Fixed(1); left > 0 && reader.ok(); --left) {
      const uint64_t content = reader.Unsigned();
      format.push_back({content, {0, reader.Unsigned()}});
    }
    std::vector<std::string> found;
    uint64_t before = 0;
    for (uint64_t left = reader.Unsigned(); left > 0 && reader.at() > before; --left) {
      before = reader.at();
      std::string_view name;
      uint64_t of = 0;
      for (const auto& [content, what] : format) {
        Value value;
        if (!Read(reader, what, &value)) {
          return found;
        }
        if (content == 1) {  // DW_LNCT_path
          name = Text(value);
        } else if (content == 2) {  // DW_LNCT_directory_index
          of = value.number;
        }
      }
      const std::string& parent = folders.empty()
                                      ? (found.empty() ? folder : found[0])
                                      : folders[std::min<uint64_t>(of, folders.size() - 1)];
      found.push_back(
          std::filesystem::path(Joined(parent, std::string(name))).lexically_normal().string());
    }
    return found;
  }

  void ReadLineProgram(uint64_t at) {
    Reader reader(sections->line, at);
    unsigned programOffsets = 4;
    const uint64_t stop = reader.Length(&programOffsets);
    reader = Reader(sections->line, reader.at(), stop);
    const auto programVersion = static_cast<unsigned>(reader.Fixed(2));
    if (programVersion < 2 || programVersion > 5) {
      return;
    }
    if (programVersion >= 5) {
      reader.Skip(2);  // sizes of addresses, which the unit has too, and of segments
    }
    const uint64_t headerBytes = reader.Fixed(programOffsets);
    const uint64_t program = reader.at() + headerBytes;
    const uint64_t minimum = reader.Fixed(1);
    if (programVersion >= 4) {
      reader.Skip(1);  // operations per instruction: one on our hosts
    }
    reader.Skip(1);  // whether rows are statements at first
    const auto lineBase = static_cast<int8_t>(reader.Fixed(1));
    const uint64_t lineRange = std::max<uint64_t>(reader.Fixed(1), 1);
    const uint64_t opcodeBase = reader.Fixed(1);
    std::vector<uint64_t> operands(1);
    for (uint64_t i = 1; i < opcodeBase; ++i) {
      operands.push_back(reader.Fixed(1));
    }
    ReadFiles(reader, programVersion);
    if (program >= reader.at() && program <= stop) {
      RunLineProgram(Reader(sections->line, program, stop), {minimum, lineBase, lineRange},
                     operands);
    }
  }

  struct Steps {
    uint64_t minimum;  // bytes per unit of address
    int64_t lineBase;
    uint64_t lineRange;
  };

  void RunLineProgram(Reader reader, const Steps& steps, const std::vector<uint64_t>& operands) {
    const Row first{.address = 0, .file = 1, .line = 1};
    Row row = first;
    Sequence sequence;
    const auto add = [&] { sequence.rows.push_back(row); };
    while (reader.more()) {
      const uint64_t code = reader.Fixed(1);
      if (code >= operands.size()) {
        const uint64_t step = code - operands.size();
        row.address += step / steps.lineRange * steps.minimum;
        row.line +=
            static_cast<uint32_t>(steps.lineBase + static_cast<int64_t>(step % steps.lineRange));
        add();
        continue;
      }
      switch (code) {
        case 0: {  // extended
          const uint64_t bytes = reader.Unsigned();
          const uint64_t next = reader.at() + bytes;
          const uint64_t extended = bytes > 0 ? reader.Fixed(1) : 0;
          if (extended == 1) {  // DW_LNE_end_sequence
            if (!sequence.rows.empty()) {
              sequence.range = {sequence.rows.front().address, row.address};
              sequences.push_back(std::move(sequence));
            }
            sequence = {};
            row = first;
          } else if (extended == 2 && bytes <= 9) {  // DW_LNE_set_address
            row.address = reader.Fixed(static_cast<unsigned>(bytes) - 1);
          }
          if (next < reader.at()) {
            return;
          }
          reader.Skip(next - reader.at());
          break;
        }
        case 1:  // DW_LNS_copy
          add();
          break;
        case 2:
          row.address += reader.Unsigned() * steps.minimum;
          break;
        case 3:
          row.line += static_cast<uint32_t>(reader.Signed());
          break;
        case 4:
          row.file = static_cast<uint32_t>(reader.Unsigned());
          break;
        case 8:  // DW_LNS_const_add_pc
          row.address += (255 - operands.size()) / steps.lineRange * steps.minimum;
          break;
        case 9:
          row.address += reader.Fixed(2);
          break;
        default:
          for (uint64_t left = operands[code]; left > 0; --left) {
            reader.Unsigned();
          }
      }
    }
  }

  bool Holds(uint64_t address) const {
    return std::ranges::any_of(ranges, [&](const Range& range) { return range.Holds(address); });
  }

  CodeLine LineOf(uint64_t file, uint64_t line) const {
    CodeLine found;
    found.file = FileAt(file);
    found.line = static_cast<int>(line);
    found.toolkit = !toolkit.empty() && found.file.starts_with(toolkit);
    found.standard = std::ranges::any_of(
        standard, [&](const std::string& its) { return found.file.starts_with(its); });
    return found;
  }

  // The line of an address. Several rows may have it: the last tells its instruction, the first what begins there.
  std::optional<CodeLine> RowAt(uint64_t address, bool isHead) const {
    const Sequence* best = nullptr;
    for (const Sequence& sequence : sequences) {
      if (sequence.range.Holds(address) &&
          (best == nullptr || sequence.range.begin > best->range.begin)) {
        best = &sequence;
      }
    }
    if (best == nullptr) {
      return std::nullopt;
    }
    if (isHead) {
      const auto at = std::ranges::lower_bound(best->rows, address, {}, &Row::address);
      if (at != best->rows.end() && at->address == address) return LineOf(at->file, at->line);
    }
    const auto behind = std::ranges::upper_bound(best->rows, address, {}, &Row::address);
    const Row& row = *std::prev(behind == best->rows.begin() ? behind + 1 : behind);
    return LineOf(row.file, row.line);
  }

  // Returns whether the compiler wrote a function itself, as an implicit destructor.
  bool IsImplicit(Entry entry) const {
    constexpr int kMostSteps = 4;  // from inlined code to the class that declares the function
    for (int step = 0; !entry.artificial && entry.origin && step < kMostSteps; ++step) {
      const uint64_t at = entry.origin.number + (entry.origin.form == kRefAddr ? 0 : begin);
      // Abbreviations belong to a unit: an entry of another one, as code has that was optimised at link time, stays unread.
      Reader reader(sections->info, at, end);
      if (at < entries || at >= end || !ReadEntry(reader, &entry) || entry.kind == nullptr) {
        return false;
      }
    }
    return entry.artificial && entry.artificial.number != 0;
  }

  // The smallest function that has code at an address, or null.
  const Function* FunctionAt(uint64_t address) const {
    const Function* found = nullptr;
    uint64_t least = UINT64_MAX;
    for (const Function& one : functions) {
      for (const Range& range : one.ranges) {
        if (range.Holds(address) && range.end - range.begin < least) {
          found = &one;
          least = range.end - range.begin;
        }
      }
    }
    return found;
  }

  // An entry inside a function. A function that is inlined there has the line of its call.
  struct Scope {
    bool function = false;
    bool implicit = false;
    std::optional<CodeLine> call = std::nullopt;
  };

  Scope ScopeOf(const Entry& entry) const {
    const bool inlined = entry.kind->tag == kInlined;
    const bool function = inlined || entry.kind->tag == kFunction;
    Scope scope{.function = function, .implicit = function && IsImplicit(entry)};
    if (inlined) {
      scope.call = LineOf(entry.callFile.number, entry.callLine.number);
    }
    return scope;
  }

  // Returns the entries from the function at an address down to the innermost inlined function that has code there.
  std::vector<Scope> ScopesAround(uint64_t address) const {
    const Function* const function = FunctionAt(address);
    if (function == nullptr) {
      return {};
    }
    Reader reader(sections->info, function->at, end);
    std::vector<Scope> around, deepest;
    for (Entry entry; reader.more() && ReadEntry(reader, &entry);) {
      if (entry.kind == nullptr) {
        if (around.size() <= 1) {
          break;
        }
        around.pop_back();
        continue;
      }
      around.push_back(ScopeOf(entry));
      const bool its =
          around.size() == 1 || (entry.kind->tag == kInlined && around.size() > deepest.size() &&
                                 std::ranges::any_of(RangesOf(entry), [&](const Range& range) {
                                   return range.Holds(address);
                                 }));
      if (its) {
        deepest = around;
      }
      if (!entry.kind->children) {
        around.pop_back();
        if (around.empty()) {
          break;
        }
      }
    }
    return deepest;
  }

  // The line of an address and of the calls around it, innermost first.
  std::vector<CodeLine> LinesAt(uint64_t address) const {
    std::vector<CodeLine> lines;
    std::optional<CodeLine> line = RowAt(address, false);
    const std::vector<Scope> scopes = ScopesAround(address);
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
      if (!scope->function) {
        continue;
      }
      if (line) {
        line->implicit = scope->implicit;
        lines.push_back(std::move(*line));
      }
      line = scope->call;
    }
    return scopes.empty() ? std::vector{*line} : lines;
  }
};

DebugLines::DebugLines(const std::string& module)
    : sections_(new Sections{.elf = ReadDebugSections(module)}), missing_(sections_->elf.missing) {
  for (uint64_t at = 0; at < sections_->info.size();) {
    Unit unit;
    const bool has = unit.ReadHeader(*sections_, at);
    if (unit.end <= at) {
      break;
    }
    at = unit.end;
    if (unit.split) {
      missing_ = "its debug information is in .dwo files: build the kernel without -gsplit-dwarf";
    }
    if (has) {
      units_.push_back(std::move(unit));
    }
  }
}

DebugLines::~DebugLines() = default;

// The unit that has rows for an address, read whole, or none.
DebugLines::Unit* DebugLines::UnitOf(uint64_t address) {
  for (Unit& unit : units_) {
    if (!unit.ranges.empty() && !unit.Holds(address)) {
      continue;
    }
    unit.ReadWhole();
    // Code that was optimised at link time has a unit of its own, which leaves what marks headers to those of the sources.
    for (size_t i = 0; unit.linked && unit.toolkit.empty() && i < units_.size(); ++i) {
      units_[i].ReadWhole();
      unit.toolkit = units_[i].toolkit;
    }
    if (unit.RowAt(address, false)) return &unit;
  }
  return nullptr;
}

std::vector<CodeLine> DebugLines::At(uint64_t offset) {
  const uint64_t address = offset + sections_->elf.base;
  const Unit* const unit = UnitOf(address);
  if (unit == nullptr) return {};
  std::vector<CodeLine> lines = unit->LinesAt(address);
  std::erase_if(lines, [](const CodeLine& line) { return line.line <= 0 || line.file.empty(); });
  return lines;
}

std::vector<CodeLine> DebugLines::HeadAt(uint64_t offset) {
  const uint64_t address = offset + sections_->elf.base;
  const Unit* const unit = UnitOf(address);
  if (unit == nullptr) return {};
  const CodeLine head = *unit->RowAt(address, true);
  if (head.line <= 0 || head.file.empty()) return {};
  return {head};
}

}  // namespace aclsim
