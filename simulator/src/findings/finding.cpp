// SPDX-License-Identifier: Apache-2.0
#include "findings/finding.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "findings/levels.h"
#include "findings/printed_findings.h"
#include "host/fork.h"
#include "host/lock.h"
#include "host/report_file.h"

namespace aclsim {

namespace {

constexpr size_t kMostFindings = 10000;  // further ones are counted into the last

struct Found {
  Mutex<11, "findings"> mutex;
  std::vector<Finding> findings;
  std::vector<Level> levels;  // what each counts as
};
PerProcess<Found> found;
std::atomic<bool> printing{false};
std::atomic<bool> silent{false};

constexpr size_t kMostSaid = 64;  // that are remembered

// A child has printed nothing yet.
struct Printed {
  Mutex<12, "printed findings"> mutex;
  std::deque<std::string> said;
};
PerProcess<Printed> printed;

// aclFinalize and the end of a block say these themselves.
bool SaidElsewhere(const Finding& finding) {
  return finding.kind == "host-leak" || (finding.kind == "gm-overrun" && finding.core < 0);
}

bool SameLine(const SourceLine& a, const SourceLine& b) {
  return a.line == b.line && a.file == b.file;
}

bool Same(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.op != b.op || a.at.instruction != b.at.instruction ||
      !SameLine(a.at.line, b.at.line) || a.related.size() != b.related.size() ||
      (a.at.line.line == 0 && a.detail != b.detail)) {
    return false;
  }
  for (size_t i = 0; i < a.related.size(); ++i) {
    if (!SameLine(a.related[i].line, b.related[i].line)) {
      return false;
    }
  }
  return true;
}

std::string PlaceJson(const Place& place) {
  return Format("{\"pipe\":%s,\"instruction\":%s,\"note\":%s,\"file\":%s,\"line\":%d,\"text\":%s}",
                JsonQuoted(place.pipe).c_str(), JsonQuoted(place.instruction).c_str(),
                JsonQuoted(place.note).c_str(), JsonQuoted(place.line.file).c_str(),
                place.line.line, JsonQuoted(place.line.text).c_str());
}

std::string PlaceText(const Place& place) {
  std::string text;
  if (place.line.line > 0) {
    text =
        Format("%s:%d\n     %s", place.line.file.c_str(), place.line.line, place.line.text.c_str());
  } else if (!place.line.file.empty()) {
    text = place.line.file + " (no line: " + place.line.missing + ")";
  }
  return text;
}

}  // namespace

std::string JsonQuoted(const std::string& text) {
  std::string json(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += Format("\\u%04x", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string FindingText(const Finding& finding) {
  const bool host = finding.core < 0;
  std::string text =
      Format("%s [%s]%s%s",
             host ? (finding.space == std::string("host") ? "misuse" : "error") : "kernel fault",
             finding.kind.c_str(), finding.op.empty() ? "" : " in ", finding.op.c_str());
  if (finding.severity == Severity::kHint) {
    text = Format("hint [%s] in %s", finding.kind.c_str(), finding.op.c_str());
  }
  if (!host) {
    text +=
        finding.coreName.empty()
            ? Format(", core %lld of %u", static_cast<long long>(finding.core), finding.blockDim)
            : Format(", %s of %u AI cores", finding.coreName.c_str(), finding.blockDim);
  }
  if (!finding.at.instruction.empty()) {
    text.append(", ").append(finding.at.instruction);
  }
  if (!finding.at.pipe.empty() && !host) {
    text.append(" on ").append(finding.at.pipe);
  }
  if (const std::string place = PlaceText(finding.at); !place.empty()) {
    text.append("\n  at ").append(place);
  }
  for (const Place& other : finding.related) {
    text += Format("\n  %s%s%s%s%s", other.instruction.c_str(), other.pipe.empty() ? "" : " on ",
                   other.pipe.c_str(), other.note.empty() ? "" : ", which ", other.note.c_str());
    if (const std::string place = PlaceText(other); !place.empty()) {
      text.append("\n  at ").append(place);
    }
  }
  text.append("\n  ").append(finding.detail).append("\n  ").append(finding.advice);
  if (!finding.goesOn.empty()) {
    text.append("\n  keep-going: ").append(finding.goesOn);
  }
  if (finding.afterFault) {
    text.append("\n  found after another fault of this core: it may be a consequence");
  }
  if (finding.count > 1) {
    text += Format("\n  %llu times", static_cast<unsigned long long>(finding.count));
  }
  if (!finding.soc.empty() && !host) {
    text += Format("\n  soc %s, tiling key %llu", finding.soc.c_str(),
                   static_cast<unsigned long long>(finding.tilingKey));
    if (!finding.tiling.empty()) {
      text.append(", tiling ").append(finding.tiling);
    }
  }
  return text;
}

namespace {

const char* SeverityName(const Finding& finding, Level level) {
  if (finding.severity == Severity::kHint) {
    return "hint";
  }
  return level == Level::kError ? "error" : level == Level::kWarn ? "warning" : "off";
}

std::string Json(const Finding& finding, Level level) {
  std::string related;
  for (const Place& place : finding.related) {
    related += related.empty() ? "" : ",";
    related += PlaceJson(place);
  }
  return Format(
      "{\"kind\":%s,\"severity\":\"%s\",\"op\":%s,\"core\":%lld,\"blockDim\":%u,\"space\":%s,"
      "\"buffer\":%s,\"begin\":%llu,\"end\":%llu,\"at\":%s,\"related\":[%s],\"detail\":%s,"
      "\"advice\":%s,\"soc\":%s,\"tiling\":%s,\"tilingKey\":%llu,\"count\":%llu,\"goesOn\":%s,"
      "\"afterFault\":%s,%s\"text\":%s}",
      JsonQuoted(finding.kind).c_str(), SeverityName(finding, level),
      JsonQuoted(finding.op).c_str(), static_cast<long long>(finding.core), finding.blockDim,
      JsonQuoted(finding.space).c_str(), JsonQuoted(finding.buffer).c_str(),
      static_cast<unsigned long long>(finding.begin), static_cast<unsigned long long>(finding.end),
      PlaceJson(finding.at).c_str(), related.c_str(), JsonQuoted(finding.detail).c_str(),
      JsonQuoted(finding.advice).c_str(), JsonQuoted(finding.soc).c_str(),
      JsonQuoted(finding.tiling).c_str(), static_cast<unsigned long long>(finding.tilingKey),
      static_cast<unsigned long long>(finding.count), JsonQuoted(finding.goesOn).c_str(),
      finding.afterFault ? "true" : "false",
      finding.timeline.empty() ? "" : ("\"timeline\":" + finding.timeline + ",").c_str(),
      JsonQuoted(FindingText(finding)).c_str());
}

void Print(const Finding& finding, Level level) {
  if (level == Level::kWarn && !silent) {
    const SourceLine& line = finding.at.line;
    std::fprintf(stderr, "aclgrad: warning [%s]%s%s%s: %s\n", finding.kind.c_str(),
                 finding.op.empty() ? "" : " in ", finding.op.c_str(),
                 line.line > 0 ? Format(" at %s:%d", line.file.c_str(), line.line).c_str() : "",
                 finding.detail.c_str());
  }
  if (level != Level::kError || SaidElsewhere(finding)) {
    return;
  }
  const std::string text = FindingText(finding);
  if (!silent) {
    std::fprintf(stderr, "aclgrad: %s\n", text.c_str());
  }
  // The stream's failure does not print it once more.
  const std::lock_guard lock(printed->mutex);
  if (printed->said.size() >= kMostSaid) {
    printed->said.pop_front();
  }
  printed->said.push_back(text);
}

}  // namespace

void MergeFinding(std::vector<Finding>* findings, Finding finding) {
  for (Finding& known : *findings) {
    if (Same(known, finding)) {
      known.count += finding.count;
      known.afterFault = known.afterFault && finding.afterFault;
      return;
    }
  }
  if (findings->size() >= kMostFindings) {
    findings->back().count += finding.count;
    return;
  }
  findings->push_back(std::move(finding));
}

void ReportFinding(Finding finding) {
  const Level level = LevelOf(finding.kind, finding.at.line.file);
  ReportFinding(std::move(finding), level);
}

void ReportFinding(Finding finding, Level level) {
  auto& [mutex, findings, levels] = *found;
  const std::lock_guard lock(mutex);
  const size_t known = findings.size();
  MergeFinding(&findings, std::move(finding));
  if (findings.size() == known) {
    return;
  }
  levels.push_back(level);
  if (printing && findings.back().severity == Severity::kError) {
    Print(findings.back(), level);
  }
  if (const char* path = std::getenv("ACLGRAD_SIM_REPORT"); path != nullptr && *path != '\0') {
    ReportFile file(path, ReportFile::Mode::kAppend);
    if (file.get() != nullptr) {
      std::fprintf(file.get(), "%s\n", Json(findings.back(), level).c_str());
    }
    static bool said = false;
    if (!file.Close() && !said) {
      said = true;
      std::fprintf(stderr, "aclgrad: ACLGRAD_SIM_REPORT %s: %s. Next: name a regular file\n", path,
                   file.why().c_str());
    }
  }
}

void PrintFindings() { printing = true; }

void PrintFindingsOfProgram() { printing = true; }

void SilenceFindings() { silent = true; }

std::string WithoutPrinted(std::string text) {
  const std::lock_guard lock(printed->mutex);
  for (const std::string& said : printed->said) {
    if (const size_t at = text.find(said); at != std::string::npos) {
      text.erase(at, said.size());
    }
  }
  text.erase(0, std::min(text.find_first_not_of(" \n"), text.size()));
  return text;
}

std::string FindingsJson() {
  auto& [mutex, findings, levels] = *found;
  const std::lock_guard lock(mutex);
  std::string json = "[";
  for (size_t i = 0; i < findings.size(); ++i) {
    json += i > 0 ? ",\n" : "";
    json += Json(findings[i], levels[i]);
  }
  return json + "]";
}

void ClearFindings() {
  auto& [mutex, findings, levels] = *found;
  const std::lock_guard lock(mutex);
  findings.clear();
  levels.clear();
}

}  // namespace aclsim
