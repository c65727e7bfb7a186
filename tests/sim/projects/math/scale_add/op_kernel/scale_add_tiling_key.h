// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ascendc/host_api/tiling/template_argument.h"

#define SCALE_ADD_ONCE 1
#define SCALE_ADD_TWICE 5

ASCENDC_TPL_ARGS_DECL(ScaleAdd,
                      ASCENDC_TPL_UINT_DECL(repeat, 8, ASCENDC_TPL_UI_LIST, SCALE_ADD_ONCE,
                                            SCALE_ADD_TWICE),
                      ASCENDC_TPL_BOOL_DECL(hasBias, 0, 1),
                      ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_FLOAT16,
                                                ASCENDC_TPL_INPUT(0)));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(repeat, ASCENDC_TPL_UI_LIST,
                                                          SCALE_ADD_ONCE, SCALE_ADD_TWICE),
                                     ASCENDC_TPL_BOOL_SEL(hasBias, 0),
                                     ASCENDC_TPL_DATATYPE_SEL(T, ASCENDC_TPL_INPUT(0))),
                ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(repeat, ASCENDC_TPL_UI_LIST,
                                                          SCALE_ADD_ONCE),
                                     ASCENDC_TPL_BOOL_SEL(hasBias, 1),
                                     ASCENDC_TPL_DATATYPE_SEL(T, ASCENDC_TPL_INPUT(0))));
