// SPDX-License-Identifier: Apache-2.0
// AscendC::Std: what CANN has of the C++ library for kernels, under the same names.
#pragma once

#include <cmath>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

namespace AscendC::Std {

template <typename T, typename U>
constexpr auto min(const T& src0, const U& src1) {
  return src1 < src0 ? src1 : src0;
}
template <typename T, typename U>
constexpr auto max(const T& src0, const U& src1) {
  return src0 < src1 ? src1 : src0;
}
template <typename T>
constexpr T min(const T a, const T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(const T a, const T b) {
  return a < b ? b : a;
}
using std::abs;
using std::sqrt;

using std::declval;
using std::forward;
using std::index_sequence;
using std::make_index_sequence;
using std::move;

using std::ignore;
using std::tuple;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;
// Functions of their own: std's are host code in a kernel.
template <size_t index, typename T>
constexpr decltype(auto) get(T&& parts) {
  return std::get<index>(std::forward<T>(parts));
}
template <typename... Parts>
constexpr auto make_tuple(Parts&&... parts) {
  return std::make_tuple(std::forward<Parts>(parts)...);
}
template <typename... Parts>
constexpr tuple<Parts&...> tie(Parts&... parts) {
  return tuple<Parts&...>(parts...);
}
template <typename T>
struct is_tuple : std::false_type {};
template <typename... Parts>
struct is_tuple<std::tuple<Parts...>> : std::true_type {};
template <typename T>
constexpr bool is_tuple_v = is_tuple<std::remove_cv_t<T>>::value;

using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::integral_constant;
template <size_t value>
using Int = std::integral_constant<size_t, value>;
using std::is_array;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_const;
using std::is_convertible;
using std::is_convertible_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_function;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_union;
using std::is_void;
using std::is_void_v;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::true_type;
using std::void_t;
template <typename T, typename U>
using IsSame = std::bool_constant<std::is_same_v<T, U>>;
template <typename T>
using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<T>>;
template <typename T>
struct remove_cvref {
  using type = remove_cvref_t<T>;
};
template <typename T, typename... Types>
struct is_one_of : std::bool_constant<(std::is_same_v<T, Types> || ...)> {};
template <typename T, typename... Types>
constexpr bool is_one_of_v = is_one_of<T, Types...>::value;

}  // namespace AscendC::Std
