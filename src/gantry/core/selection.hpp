// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/core/device_status.hpp>
#include <gantry/core/handle.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// What the switches of a front end ask for.
struct DeviceRequest {
  enum class MapBy : std::uint8_t { local_rank, random };
  std::optional<int> device_id;              ///< index into the devices of GANTRY_DEVICES; not checked yet
  MapBy map_by = MapBy::local_rank;          ///< how a device is chosen when no id is given
  std::string device_id_name = "device id";  ///< the switch's name, for messages
};

/// A backend as the registry found it.
struct BackendReport {
  std::string name;
  bool candidate = false;
  Availability availability;
  std::vector<DeviceInfo> devices;  ///< empty when it was not probed or is not available
};

/// One entry of GANTRY_DEVICES.
struct DeviceToken {
  enum class Kind : std::uint8_t {
    backend,  ///< "host": all devices of the backend
    name,     ///< "host:1"
    number,   ///< "1": index into all devices that exist
    pci,      ///< "0000:3b:00.0", "3b:00.0"
    uuid,     ///< "GPU-...", or a prefix of it
    mig,      ///< "MIG-...": a part of a GPU, known by its name only
  };
  Kind kind = Kind::number;
  std::string text;     ///< as written, without blanks around it
  std::string backend;  ///< of `backend` and `name`
  int number = 0;       ///< of `name` and `number`

  /// True when a backend of that name must be probed to know what the entry means.
  [[nodiscard]] bool asks_for(std::string_view backend_name) const noexcept;
};

/// GANTRY_DEVICES.
struct DeviceNames {
  std::string text;  ///< as written
  std::vector<DeviceToken> tokens;
};

/// Reads GANTRY_DEVICES; an error names what does not parse and says what would.
[[nodiscard]] Result<DeviceNames> parse_devices(std::string_view text);

/// The rank of this process on its node, as its launcher wrote it.
struct LocalRank {
  std::string variable;
  std::string text;  ///< not empty; perhaps no number
};

/// All that decides about devices.
struct SelectionInput {
  std::optional<DeviceNames> devices;  ///< no value: GANTRY_DEVICES is not set
  bool require_gpu = false;
  DeviceRequest request;
  std::optional<LocalRank> local_rank;  ///< read only when it decides
  std::uint32_t random = 0;             ///< any number, used by MapBy::random
  std::vector<BackendReport> backends;  ///< in order of preference
};

struct Selection {
  struct Device {
    DeviceInfo info;
    std::optional<DeviceId> id;  ///< none: exists, but GANTRY_DEVICES leaves it out
    std::string reason;          ///< why it is, or is not, the default
  };
  std::vector<BackendReport> backends;
  std::vector<Device> devices;  ///< the usable ones first, device `id` at index `id`
  DeviceChoice choice;

  [[nodiscard]] GANTRY_API int usable() const noexcept;
};

/// Decides which devices may be used, in which order, and which is the default. A pure function: the same input gives
/// the same result. Errors name the offending text and list the devices that exist.
[[nodiscard]] Result<Selection> select_devices(SelectionInput input);

/// What the launcher's variable says; none without a launcher. An empty variable counts as not set.
[[nodiscard]] std::optional<LocalRank> local_rank_from_environment();

}  // namespace gantry
