// SPDX-License-Identifier: Apache-2.0
// Unit flags of L0C, as flags between the cube pipe and FIX. Whether they order enough is the race check's business.
#include <algorithm>

#include "engine/cube_registers.h"
#include "engine/flag_numbers.h"
#include "engine/pipe.h"

namespace aclsim {

namespace {

// The numbers of HardEvents that do not exist: a pair for each tile, flipped and cleared.
constexpr size_t kMostTiles = (kEventFlags - kUnitFlags) / 2;
uint32_t Flipped(size_t tile) { return kUnitFlags + static_cast<uint32_t>(2 * tile); }
uint32_t Cleared(size_t tile) { return Flipped(tile) + 1; }

size_t TileAt(Core& core, uint64_t begin, uint64_t bytes) {
  UnitTiles& tiles = core.unitTiles;
  const auto at = std::ranges::find(tiles, begin, &UnitTile::begin);
  if (at != tiles.end()) {
    return static_cast<size_t>(at - tiles.begin());
  }
  if (tiles.size() >= kMostTiles) {
    ThrowFault("instruction-absent",
               Format("matrix units: more than %zu tiles of L0C with unit flags in one kernel are "
                      "not simulated yet",
                      kMostTiles),
               "Next: let tiles begin at fewer addresses of L0C, or see docs/simulator.md for what "
               "is simulated.");
  }
  tiles.push_back({begin, bytes});
  return tiles.size() - 1;
}

}  // namespace

void AwaitUnitFlag(Core& core, bool mmad, uint64_t begin, uint64_t bytes) {
  const size_t at = TileAt(core, begin, bytes);
  UnitTile& tile = core.unitTiles[at];
  if (mmad) {
    if (tile.full) {
      tile.full = false;
      OrderPipes(core, SyncEvent::Kind::kWait, Pipe::kFix, Pipe::kCube, Cleared(at));
    }
    return;
  }
  if (tile.flips > 0 && tile.bytes != bytes) {
    KernelFault fault{
        "value-range",
        Format("Fixpipe with a unit flag drains %llu B of L0C, the Mmad has filled %llu",
               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(tile.bytes)),
        "Hardware waits for flags that nobody sets, or leaves some set: a hang. Drain what was "
        "filled, of the same M and N.",
        CaptureStack(),
        {},
        ""};
    fault.related.push_back({core.sites.Stack(tile.site), "Mmad", "fills it"});
    core.GoOn(std::move(fault), "the flags of the Mmad are taken");
  }
  tile.flips -= tile.flips > 0 ? 1 : 0;
  OrderPipes(core, SyncEvent::Kind::kWait, Pipe::kCube, Pipe::kFix, Flipped(at));
}

void PassUnitFlag(Core& core, bool mmad, uint64_t begin, uint64_t bytes) {
  const size_t at = TileAt(core, begin, bytes);
  UnitTile& tile = core.unitTiles[at];
  if (mmad) {
    tile.full = true;
    tile.bytes = bytes;
    ++tile.flips;
    tile.site = core.sites.Capture();
    OrderPipes(core, SyncEvent::Kind::kSet, Pipe::kCube, Pipe::kFix, Flipped(at));
  } else {
    OrderPipes(core, SyncEvent::Kind::kSet, Pipe::kFix, Pipe::kCube, Cleared(at));
  }
}

void ClearUnitFlags(Core& core) {
  for (size_t at = 0; at < core.unitTiles.size(); ++at) {
    UnitTile& tile = core.unitTiles[at];
    for (; tile.flips > 0; --tile.flips) {
      OrderPipes(core, SyncEvent::Kind::kWait, Pipe::kCube, Pipe::kFix, Flipped(at));
      OrderPipes(core, SyncEvent::Kind::kSet, Pipe::kFix, Pipe::kCube, Cleared(at));
    }
  }
}

void CheckUnitFlags(Core& core) {
  for (const UnitTile& tile : core.unitTiles) {
    if (tile.flips > 0) {
      core.GoOn(core.FaultAt("flag-leak", tile.site, Pipe::kCube, "Mmad",
                             Format("the unit flag that Mmad sets on %s is never cleared",
                                    core.NameRange(tile.begin, tile.begin + tile.bytes).c_str()),
                             "Hardware leaves it set for the next kernel, whose first Mmad there "
                             "hangs. Copy the result out by a Fixpipe with unitFlag 3.",
                             {}),
                "left as it is at the end");
    }
  }
}

}  // namespace aclsim
