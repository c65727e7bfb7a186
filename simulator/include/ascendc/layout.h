// SPDX-License-Identifier: Apache-2.0
// Shapes, strides and coordinates of tensors, which may be nested, and the element that a coordinate stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ascendc/std_names.h"

namespace AscendC {

template <typename... Sizes>
using Shape = Std::tuple<Sizes...>;
template <typename... Steps>
using Stride = Std::tuple<Steps...>;
template <typename... Places>
using Coord = Std::tuple<Places...>;
template <typename... Sizes>
constexpr Shape<Sizes...> MakeShape(const Sizes&... sizes) {
  return {sizes...};
}
template <typename... Steps>
constexpr Stride<Steps...> MakeStride(const Steps&... steps) {
  return {steps...};
}
template <typename... Places>
constexpr Coord<Places...> MakeCoord(const Places&... places) {
  return {places...};
}

// How many numbers a shape has, within its parts too.
template <typename T>
struct nesting_depth : std::integral_constant<size_t, 1> {};
template <typename... Parts>
struct nesting_depth<Std::tuple<Parts...>>
    : std::integral_constant<size_t, (size_t{0} + ... + nesting_depth<Parts>::value)> {};
template <typename T>
constexpr size_t nesting_depth_v = nesting_depth<T>::value;

namespace detail::layouts {

// Numbers that the type alone says.
template <typename T>
struct IsStatic : std::false_type {};
template <size_t value>
struct IsStatic<Std::Int<value>> : std::true_type {};
template <typename... Parts>
struct IsStatic<Std::tuple<Parts...>> : std::bool_constant<(IsStatic<Parts>::value && ...)> {};

template <typename T>
constexpr auto ProductOf(const T& sizes) {
  if constexpr (Std::is_tuple_v<T>) {
    return std::apply([](const auto&... each) { return (size_t{1} * ... * ProductOf(each)); },
                      sizes);
  } else {
    return sizes;
  }
}

// A row and a column, each of one number, or of those in a block and of blocks.
template <typename Sizes, typename Steps>
constexpr uint32_t SizeOf(const Sizes& shape, const Steps& stride) {
  constexpr size_t kDepth = nesting_depth_v<Sizes>;
  const auto reach = [](const auto& sizes, const auto& steps) {
    if constexpr (kDepth == 4) {
      return static_cast<uint32_t>(std::get<1>(sizes) * std::get<1>(steps));
    } else {
      return static_cast<uint32_t>(sizes * steps);
    }
  };
  if constexpr (kDepth == 2 || kDepth == 4) {
    const uint32_t rows = reach(std::get<0>(shape), std::get<0>(stride));
    const uint32_t columns = reach(std::get<1>(shape), std::get<1>(stride));
    return rows > columns ? rows : columns;
  } else {
    return UINT32_MAX;
  }
}

}  // namespace detail::layouts

// A number in place of a tuple counts along the first axis first.
template <typename Place, typename Sizes, typename Steps>
constexpr auto Crd2Idx(const Place& coord, const Sizes& shape, const Steps& stride);

namespace detail::layouts {

template <typename Place, typename Sizes, typename Steps, size_t... I>
constexpr auto ByAxes(const Place& coord, const Sizes& shape, const Steps& stride,
                      std::index_sequence<I...>) {
  return (... + Crd2Idx(std::get<I>(coord), std::get<I>(shape), std::get<I>(stride)));
}
template <size_t axis, typename Place, typename Sizes, typename Steps>
constexpr auto ByNumber(const Place& coord, const Sizes& shape, const Steps& stride) {
  const auto& size = std::get<axis>(shape);
  const auto& step = std::get<axis>(stride);
  if constexpr (axis + 1 == std::tuple_size_v<Sizes>) {
    return Crd2Idx(coord, size, step);
  } else {
    const auto along = ProductOf(size);
    return Crd2Idx(coord % along, size, step) + ByNumber<axis + 1>(coord / along, shape, stride);
  }
}

}  // namespace detail::layouts

template <typename Place, typename Sizes, typename Steps>
constexpr auto Crd2Idx(const Place& coord, const Sizes& shape, const Steps& stride) {
  if constexpr (Std::is_tuple_v<Place>) {
    static_assert(Std::is_tuple_v<Sizes>, "Crd2Idx: the coordinate has axes, the shape has none");
    static_assert(std::tuple_size_v<Place> == std::tuple_size_v<Sizes> &&
                      std::tuple_size_v<Place> == std::tuple_size_v<Steps>,
                  "Crd2Idx: coordinate, shape and stride have as many axes");
    return detail::layouts::ByAxes(coord, shape, stride,
                                   std::make_index_sequence<std::tuple_size_v<Place>>());
  } else if constexpr (Std::is_tuple_v<Sizes>) {
    static_assert(std::tuple_size_v<Sizes> == std::tuple_size_v<Steps>,
                  "Crd2Idx: shape and stride have as many axes");
    return detail::layouts::ByNumber<0>(coord, shape, stride);
  } else {
    return coord * stride;
  }
}

template <typename Sizes, typename Steps>
struct Layout {
  static_assert(Std::is_tuple_v<Sizes> && Std::is_tuple_v<Steps>,
                "Layout: shape and stride are tuples");

  constexpr Layout(const Sizes& shape = {}, const Steps& stride = {})
      : shape_(shape), stride_(stride) {}

  constexpr Layout& layout() { return *this; }
  constexpr const Layout& layout() const { return *this; }
  template <size_t... axes>
  constexpr auto GetShape() const {
    return Chosen<axes...>(shape_);
  }
  template <size_t... axes>
  constexpr auto GetStride() const {
    return Chosen<axes...>(stride_);
  }
  constexpr uint32_t GetSize() const { return detail::layouts::SizeOf(shape_, stride_); }
  template <typename Place>
  constexpr auto operator()(const Place& coord) const {
    return Crd2Idx(coord, shape_, stride_);
  }

 private:
  template <size_t... axes, typename Parts>
  static constexpr auto Chosen(const Parts& parts) {
    if constexpr (sizeof...(axes) == 0) {
      return parts;
    } else {
      return std::make_tuple(std::get<axes>(parts)...);
    }
  }
  static constexpr size_t StaticSize() {
    if constexpr (detail::layouts::IsStatic<Sizes>::value &&
                  detail::layouts::IsStatic<Steps>::value &&
                  (nesting_depth_v<Sizes> == 2 || nesting_depth_v<Sizes> == 4)) {
      return detail::layouts::SizeOf(Sizes{}, Steps{});
    } else {
      return 0;
    }
  }

  Sizes shape_;
  Steps stride_;

 public:
  static constexpr size_t size = StaticSize();  // 0: the types do not say it
};

template <typename Sizes, typename Steps>
constexpr auto MakeLayout(const Sizes& shape, const Steps& stride) {
  return Layout<Sizes, Steps>(shape, stride);
}
template <typename Place, typename Sizes, typename Steps>
constexpr auto Crd2Idx(const Place& coord, const Layout<Sizes, Steps>& layout) {
  return layout(coord);
}
template <typename T>
struct is_layout : std::false_type {};
template <typename Sizes, typename Steps>
struct is_layout<Layout<Sizes, Steps>> : std::true_type {};
template <typename T>
constexpr bool is_layout_v = is_layout<T>::value;

}  // namespace AscendC
