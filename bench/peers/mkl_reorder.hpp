// oneMKL: conversion of a handle to its transpose, and the order of a handle in place. Both work anew in every call.
#pragma once

#include <vector>

#include "peer.hpp"

namespace kkc::bench::mkl_reorder {

std::vector<Entrant> transpose(const ReorderProblem& p);
std::vector<Entrant> sort_rows(const ReorderProblem& p);
std::vector<Entrant> coo_to_csr(const ReorderProblem& p);

}  // namespace kkc::bench::mkl_reorder
