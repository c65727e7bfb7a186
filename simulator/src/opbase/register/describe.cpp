// SPDX-License-Identifier: Apache-2.0
// aclsimDescribeOps: what the operator libraries of this process have registered, as JSON. Builds of operators that come as
// sources read their dtype columns, attributes and tiling structs from it.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "aclsim/aclsim.h"
#include "graph/utils/type_utils.h"
#include "opbase/register/op_call.h"
#include "opbase/register/registry.h"
#include "register/tilingdata_base.h"

namespace aclsim {
namespace {

std::string Quote(const char* text) {
  std::string quoted = "\"";
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(*c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", *c);
      quoted += code;
    } else {
      quoted += *c;
    }
  }
  return quoted + "\"";
}
std::string Quote(const std::string& text) { return Quote(text.c_str()); }
std::string Quote(const ge::AscendString& text) { return Quote(text.GetString()); }
const char* Word(bool value) { return value ? "true" : "false"; }

template <typename Items, typename Text>
std::string List(const Items& items, const Text& text) {
  std::string list = "[";
  for (const auto& item : items) list += (list.size() == 1 ? "" : ", ") + text(item);
  return list + "]";
}

const char* OptionName(ops::Option option) {
  switch (option) {
    case ops::REQUIRED:
      return "required";
    case ops::DYNAMIC:
      return "dynamic";
    default:
      return "optional";
  }
}

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  // JSON has no spelling for these; a default of that kind is not shown.
  return std::isdigit(static_cast<unsigned char>(text[std::string(text).size() - 1])) != 0 ? text
                                                                                           : "null";
}

std::string Param(const ops::ParamRecord& param) {
  return "{\"name\": " + Quote(param.name) + ", \"kind\": " + Quote(OptionName(param.type)) +
         ", \"dtypes\": " +
         List(
             param.dataTypes,
             [](ge::DataType type) { return Quote(ge::TypeUtils::DataTypeToAscendString(type)); }) +
         ", \"anyOf\": " + Word(param.dataTypeList) + ", \"formats\": " +
         List(param.formats, [](ge::Format format) { return Quote(ge::GetFormatName(format)); }) +
         ", \"valueDepend\": " + Word(param.valueDepend) + ", \"scalar\": " + Word(param.scalar) +
         ", \"scalarList\": " + Word(param.scalarList) +
         ", \"shapeFromResult\": " + Word(param.shapeFromResult) + "}";
}

std::string Default(const ops::AttrRecord& attr) {
  const auto integer = [](int64_t value) { return std::to_string(value); };
  if (!attr.hasDefault) return "null";
  switch (attr.kind) {
    case ops::AttrKind::kBool:
      return Word(attr.intValue != 0);
    case ops::AttrKind::kInt:
      return integer(attr.intValue);
    case ops::AttrKind::kFloat:
      return Number(attr.floatValue);
    case ops::AttrKind::kString:
      return Quote(attr.stringValue);
    case ops::AttrKind::kListBool:
    case ops::AttrKind::kListInt:
      return List(attr.listInt, integer);
    case ops::AttrKind::kListFloat:
      return List(attr.listFloat, [](float value) { return Number(value); });
    case ops::AttrKind::kListListInt:
      return List(attr.listListInt,
                  [&](const std::vector<int64_t>& inner) { return List(inner, integer); });
  }
  return "null";
}

std::string Attr(const ops::OpAttrDef& def) {
  static const char* const kKinds[] = {"Bool",     "Float",     "Int",     "String",
                                       "ListBool", "ListFloat", "ListInt", "ListListInt"};
  const ops::AttrRecord& attr = def.Record();
  return "{\"name\": " + Quote(attr.name) +
         ", \"kind\": " + Quote(kKinds[static_cast<size_t>(attr.kind)]) +
         ", \"required\": " + Word(attr.type == ops::REQUIRED) + ", \"default\": " + Default(attr) +
         "}";
}

std::string Params(const ResolvedOp& op) {
  return "\"inputs\": " + List(op.inputs, Param) + ", \"outputs\": " + List(op.outputs, Param);
}

// A definition may give other dtypes for some SoCs, which its build for this one does not read.
std::string OtherSocs(const ops::OpDef& def) {
  std::string text;
  for (const auto& [soc, config] : def.AiCore().Configs()) {
    ResolvedOp resolved;
    std::string why;
    const bool own = !config.Inputs().empty() || !config.Outputs().empty();
    if (own && ResolveOp(def, soc.GetString(), &resolved, &why)) {
      text += (text.empty() ? "" : ", ") + Quote(soc.GetString()) + ": {" + Params(resolved) + "}";
    }
  }
  return "{" + text + "}";
}

std::string Op(const gert::OpImplEntry& entry, const std::string& soc) {
  std::string text =
      "{\"type\": " + Quote(entry.type) + ", \"tiling\": " + Word(entry.tiling != nullptr) +
      ", \"inferShape\": " + Word(entry.inferShape != nullptr) +
      ", \"inferDataType\": " + Word(entry.inferDataType != nullptr) +
      ", \"defined\": " + Word(entry.def.has_value()) + ", \"inferenceReads\": " +
      List(entry.inferenceReads, [](int32_t index) { return std::to_string(index); }) +
      ", \"tilingReads\": " +
      List(entry.tilingReads, [](int32_t index) { return std::to_string(index); });
  if (entry.def.has_value()) {
    const ops::OpDef& def = *entry.def;
    const auto& configs = def.AiCore().Configs();
    text += ", \"socs\": " + List(configs, [](const auto& config) { return Quote(config.first); });
    text += ", \"attrs\": " + List(def.Attrs(), Attr);
    ResolvedOp resolved;
    std::string why;
    if (ResolveOp(def, soc, &resolved, &why)) {
      text += ", " + Params(resolved) + ", \"otherSocs\": " + OtherSocs(def);
      std::string lower = soc;
      std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
      const auto config = configs.find(lower.c_str());
      text += ", \"config\": {";
      if (config != configs.end()) {
        bool first = true;
        for (const auto& [key, value] : config->second.Config()) {
          text += (first ? "" : ", ") + Quote(key) + ": " + Quote(value);
          first = false;
        }
      }
      text += "}";
    } else {
      text += ", \"why\": " + Quote(why);
    }
  }
  return text + "}";
}

std::string Struct(const optiling::TilingDef& def) {
  std::string fields = "[";
  const std::vector<optiling::FieldInfo>& all = def.GetFieldInfo();
  for (size_t i = 0; i < all.size(); ++i) {
    const optiling::TilingDef* nested = def.Nested(i);
    fields +=
        std::string(i == 0 ? "" : ", ") + "{\"name\": " + Quote(all[i].name_) +
        ", \"type\": " + Quote(nested == nullptr ? all[i].dtype_ : nested->GetTilingClassName()) +
        ", \"offset\": " + std::to_string(all[i].offset) +
        ", \"count\": " + std::to_string(all[i].count) +
        (nested == nullptr ? "" : ", \"nested\": " + Struct(*nested)) + "}";
  }
  return "{\"class\": " + Quote(def.GetTilingClassName()) +
         ", \"bytes\": " + std::to_string(def.GetDataSize()) + ", \"fields\": " + fields + "]}";
}

template <typename T>
std::string ValueAt(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return std::is_floating_point_v<T> ? Number(static_cast<double>(value)) : std::to_string(value);
}
// Types of fields, with how many bytes an element has and what it is as text.
struct FieldType {
  const char* name;
  size_t bytes;
  std::string (*text)(const uint8_t*);
};
const FieldType* TypeOf(const std::string& name) {
#define ACLSIM_FIELD_TYPE_(type) {#type, sizeof(type), ValueAt<type>}
  static const FieldType kTypes[] = {
      ACLSIM_FIELD_TYPE_(bool),     ACLSIM_FIELD_TYPE_(int8_t),   ACLSIM_FIELD_TYPE_(uint8_t),
      ACLSIM_FIELD_TYPE_(int16_t),  ACLSIM_FIELD_TYPE_(uint16_t), ACLSIM_FIELD_TYPE_(int32_t),
      ACLSIM_FIELD_TYPE_(uint32_t), ACLSIM_FIELD_TYPE_(int64_t),  ACLSIM_FIELD_TYPE_(uint64_t),
      ACLSIM_FIELD_TYPE_(int),      ACLSIM_FIELD_TYPE_(float),    ACLSIM_FIELD_TYPE_(double)};
#undef ACLSIM_FIELD_TYPE_
  const auto* found =
      std::ranges::find_if(kTypes, [&](const FieldType& type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

void AddFields(const optiling::TilingDef& def, const std::string& prefix, const uint8_t* bytes,
               std::string* text) {
  const std::vector<optiling::FieldInfo>& all = def.GetFieldInfo();
  for (size_t i = 0; i < all.size(); ++i) {
    const uint8_t* const at = bytes + all[i].offset;
    if (const optiling::TilingDef* nested = def.Nested(i); nested != nullptr) {
      AddFields(*nested, prefix + all[i].name_ + ".", at, text);
      continue;
    }
    const FieldType* const type = TypeOf(all[i].dtype_);
    std::string value = "null";
    if (type != nullptr) {
      value = all[i].count == 1 ? type->text(at) : "[";
      for (size_t j = 0; all[i].count != 1 && j < all[i].count; ++j) {
        value += (j == 0 ? "" : ", ") + type->text(at + j * type->bytes);
      }
      value += all[i].count == 1 ? "" : "]";
    }
    *text += (text->size() == 1 ? "" : ", ") + Quote(prefix + all[i].name_) + ": " + value;
  }
}

std::string Describe(const std::string& soc) {
  std::string ops = List(AllOps(), [&](const gert::OpImplEntry* entry) { return Op(*entry, soc); });
  std::string structs =
      List(optiling::CTilingDataClassFactory::GetInstance().All(), [](const auto& registered) {
        return "{\"op\": " + Quote(registered.first) +
               ", \"data\": " + Struct(*registered.second()) + "}";
      });
  return "{\"ops\": " + ops + ", \"tilingData\": " + structs + "}";
}

}  // namespace

std::string TilingFields(const std::string& opType, const std::vector<uint8_t>& data) {
  const std::shared_ptr<optiling::TilingDef> def =
      optiling::CTilingDataClassFactory::GetInstance().CreateTilingDataInstance(opType.c_str());
  if (def == nullptr || data.size() < def->GetDataSize()) return "";
  std::string text = "{";
  AddFields(*def, "", data.data(), &text);
  return text + "}";
}

}  // namespace aclsim

extern "C" const char* aclsimDescribeOps(const char* soc) {
  thread_local std::string text;
  text = aclsim::Describe(soc == nullptr ? "" : soc);
  return text.c_str();
}

extern "C" void aclsimMissingFunction(const char* name) {
  throw std::runtime_error(std::string(name) +
                           " is defined in none of the operator's sources for this SoC");
}
