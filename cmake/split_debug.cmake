# SPDX-License-Identifier: Apache-2.0
# cmake -DTOOLKIT=FOLDER -DOBJCOPY=PROGRAM [-DDEBUG=FOLDER] -P split_debug.cmake
# Takes the debug information out of the simulator's own libraries and its compiler, four fifths of a wheel, and puts it into
# DEBUG/lib64/.debug/NAME.debug and the like, where gdb looks beside the library. Kernels keep theirs: findings name their lines.
file(GLOB found ${TOOLKIT}/lib64/*.so ${TOOLKIT}/lib64/*.a ${TOOLKIT}/bin/ascc)
list(SORT found)

function(run)
  execute_process(COMMAND ${OBJCOPY} ${ARGN} RESULT_VARIABLE status ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${OBJCOPY} ${ARGN}: ${text}\nNext: install the binutils of the machine that the toolkit is for")
  endif()
endfunction()

foreach(file IN LISTS found)
  file(READ ${file} magic LIMIT 8 HEX)
  if(magic STREQUAL "213c617263683e0a")  # an archive
    run(--strip-debug ${file})
  elseif(magic MATCHES "^7f454c46")
    if(DEBUG)
      file(RELATIVE_PATH name ${TOOLKIT} ${file})
      get_filename_component(folder ${DEBUG}/${name} DIRECTORY)
      get_filename_component(name ${name} NAME)
      set(debug ${folder}/.debug/${name}.debug)
      file(MAKE_DIRECTORY ${folder}/.debug)
      run(--only-keep-debug --compress-debug-sections ${file} ${debug})
      file(CHMOD ${debug} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
      run(--strip-unneeded --add-gnu-debuglink=${debug} ${file})
    else()
      run(--strip-unneeded ${file})
    endif()
  endif()
endforeach()
