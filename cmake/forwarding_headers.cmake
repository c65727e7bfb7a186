# SPDX-License-Identifier: Apache-2.0
# Headers that only include another one, from a table: a header, and below it, further in, the names of those that include it.

# forwarding_headers(<table> <others> <folder>...) writes them into each folder, where other headers may be: <others> is a list of
# their names. Files that are neither go, but for those in aclnnop/, which come from a table of their own.
function(forwarding_headers table others)
  file(STRINGS ${table} lines REGEX "^[^#]")
  foreach(folder IN LISTS ARGN)
    set(wanted ${others})
    foreach(line IN LISTS lines)
      separate_arguments(names UNIX_COMMAND "${line}")
      if(line STREQUAL names)
        set(included ${names})
        continue()
      endif()
      foreach(name IN LISTS names)
        set(text "#include \"${included}\"\n")
        if(name MATCHES "/${included}$")
          # Where its own folder is one to look in, it would find itself.
          string(REGEX REPLACE "[^/]+/" "../" up ${name})
          string(REGEX REPLACE "[^/]+$" "${included}" beside ${up})
          set(text "#if __has_include(\"${beside}\")\n#include \"${beside}\"\n#else\n${text}#endif\n")
        endif()
        file(CONFIGURE OUTPUT ${folder}/${name} CONTENT
             "// SPDX-License-Identifier: Apache-2.0\n// Other name of ${included}.\n#pragma once\n\n${text}")
      endforeach()
      list(APPEND wanted ${names})
    endforeach()
    file(GLOB_RECURSE present LIST_DIRECTORIES false RELATIVE ${folder} ${folder}/*)
    list(FILTER present EXCLUDE REGEX "^aclnnop/")
    list(REMOVE_ITEM present ${wanted})
    foreach(name IN LISTS present)
      file(REMOVE ${folder}/${name})
    endforeach()
  endforeach()
endfunction()
