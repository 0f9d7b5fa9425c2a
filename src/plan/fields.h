// Reading the fields of an op, one after the other, as the types of what they become. An op
// declares each of its members with the field that it comes from (Op::field in ops/ops.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fbg/kernels/embedding_rows.h"
#include "fbg/plan/graph.h"

namespace fbg {

// Dense row-major float32 that graphs and plans share: an embedding table, or a vector (one row).
struct SharedMatrix {
  std::shared_ptr<const float> data;
  std::int64_t rows = 0, cols = 0;
  const float* row(std::int64_t i) const { return data.get() + i * cols; }
};

// An embedding table in any format of rows.
struct SharedRows {
  std::shared_ptr<const std::byte> data;
  RowLayout layout;
  std::int64_t rows;
};

// A value of an enumeration and what it is called. An enumeration that is a field has a function
// choices(E) that returns all of them.
template <class E>
struct Choice {
  const char* name;
  E value;
};
std::span<const Choice<ValueType>> choices(ValueType);

class Fields;
// What is a list of fields itself.
template <class T>
concept FieldList = std::is_constructible_v<T, Fields&> && !std::is_same_v<T, Fields>;

// The fields of an op, or those of a list that is a field. Each call reads the next one.
class Fields {
 public:
  Fields(const Graph& graph, std::string kind, FieldValue::List given, Graph::Named named = {})
      : graph_(graph), kind_(std::move(kind)), given_(std::move(given)), named_(std::move(named)) {}

  const Graph& graph() const { return graph_; }

  // Throws std::invalid_argument unless there is a field of that name and type.
  template <class T>
  T get(const char* name) {
    return as<T>(name, required(name));
  }
  // The same of a field that may be left out.
  template <class T>
  std::optional<T> find(const char* name) {
    const FieldValue& field = next(name);
    if (std::holds_alternative<std::monostate>(field.is)) return std::nullopt;
    return as<T>(name, field);
  }
  template <class T>
  T get(const char* name, T otherwise) {
    return find<T>(name).value_or(std::move(otherwise));
  }

  // The next field, as the type of what it initializes.
  struct Next {
    Fields& fields;
    const char* name;
    template <class T>
    operator T() const {
      return fields.get<T>(name);
    }
  };
  template <class D>
  struct NextOr {
    Fields& fields;
    const char* name;
    D otherwise;
    template <class T>
    operator T() const {
      return fields.get<T>(name, static_cast<T>(otherwise));
    }
  };
  Next operator()(const char* name) { return {*this, name}; }
  template <class D>
  NextOr<D> operator()(const char* name, D otherwise) {
    return {*this, name, otherwise};
  }

  // A matrix of floats that is read where it is; empty where the field is left out.
  SharedMatrix table(const char* name);
  // A table that is read where it is: floats, or fused rows of 8 bits in an array of uint8.
  SharedRows rows(const char* name);
  // A vector of floats, copied to where kernels like it: 64-byte aligned, zeros up to whole panels
  // of columns.
  SharedMatrix vector(const char* name);
  // A vector of int32.
  std::vector<std::int32_t> indices(const char* name);

  void require_all_read() const;  // throws std::invalid_argument

 private:
  FieldValue next(const char* name);
  FieldValue required(const char* name);
  [[noreturn]] void refuse(const char* name, const std::string& wanted) const;
  const Array& elements(const char* name, const FieldValue& field, const std::string& dtype,
                        std::size_t rank) const;

  template <class T>
  T as(const char* name, const FieldValue& field) const {
    if constexpr (FieldList<T>) {
      FieldValue::List values;
      read(name, field, values);
      Fields own(graph_, kind_ + ": " + name, std::move(values));
      T value(own);
      own.require_all_read();
      return value;
    } else if constexpr (std::is_enum_v<T>) {
      return choose<T>(name, held<std::string>(name, field, "a text"));
    } else {
      T value{};
      read(name, field, value);
      return value;
    }
  }
  template <class E>
  E choose(const char* name, const std::string& text) const {
    std::string wanted;
    const auto all = choices(E{});
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (text == all[i].name) return all[i].value;
      wanted += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::string(all[i].name);
    }
    refuse(name, wanted + ", got " + text);
  }

  void read(const char* name, const FieldValue& field, std::int64_t& value) const;
  void read(const char* name, const FieldValue& field, std::int32_t& value) const;
  void read(const char* name, const FieldValue& field, bool& value) const;
  void read(const char* name, const FieldValue& field, float& value) const;
  void read(const char* name, const FieldValue& field, FieldValue::List& value) const;
  template <FieldList T>
  void read(const char* name, const FieldValue& field, std::vector<T>& value) const {
    FieldValue::List lists;
    read(name, field, lists);
    for (const FieldValue& list : lists) value.push_back(as<T>(name, list));
  }
  void read(const char* name, const FieldValue& field, std::vector<Buffer>& value) const;
  template <std::size_t N>
  void read(const char* name, const FieldValue& field, std::array<std::int64_t, N>& value) const {
    const auto& numbers = held<std::vector<std::int64_t>>(name, field, "a list of integers");
    if (numbers.size() != N) refuse(name, std::to_string(N) + " integers");
    std::copy_n(numbers.begin(), N, value.begin());
  }
  void read(const char* name, const FieldValue& field, std::string& value) const {
    value = held<std::string>(name, field, "a text");
  }
  void read(const char* name, const FieldValue& field, std::vector<std::int64_t>& value) const {
    value = held<std::vector<std::int64_t>>(name, field, "a list of integers");
  }
  void read(const char* name, const FieldValue& field, Array& value) const {
    value = held<Array>(name, field, "an array");
  }
  void read(const char* name, const FieldValue& field, PackedMatrix& value) const {
    value = held<PackedMatrix>(name, field, "a packed matrix");
  }
  void read(const char* name, const FieldValue& field, PackedConv& value) const {
    value = held<PackedConv>(name, field, "packed weights of a convolution");
  }
  template <class T>
  const T& held(const char* name, const FieldValue& field, const char* wanted) const {
    if (const T* value = std::get_if<T>(&field.is)) return *value;
    refuse(name, wanted);
  }

  const Graph& graph_;
  std::string kind_;
  FieldValue::List given_;
  Graph::Named named_;
  std::size_t next_ = 0;  // of those given
};

}  // namespace fbg
