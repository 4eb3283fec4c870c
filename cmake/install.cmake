# What `make install` installs, in four components; `make deb` makes a package of each.
#
#     qrun     the command and its manual page          lib   libquasar.so.0
#     common   the library in the language, and Python  dev   headers, libquasar.a, files for pkg-config and CMake
include(GNUInstallDirs)
install(TARGETS qrun RUNTIME COMPONENT qrun)
install(TARGETS quasar_shared EXPORT QuasarTargets LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
install(TARGETS quasar ARCHIVE COMPONENT dev)
install(FILES vm/quasar.h vm/quasar_types.h vm/quasar.hpp TYPE INCLUDE COMPONENT dev)

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_custom_command(OUTPUT qrun.1 DEPENDS qrun cmake/man.py VERBATIM
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/man.py $<TARGET_FILE:qrun> > qrun.1
    COMMAND gzip -9nkf qrun.1)
  add_custom_target(man ALL DEPENDS qrun.1)
  install(FILES ${CMAKE_BINARY_DIR}/qrun.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT qrun)
endif()

# For static linking: what the library needs, as the linker is told.
get_target_property(libs quasar LINK_LIBRARIES)
foreach(lib ${libs})
  if(lib MATCHES "^PkgConfig::(.*)")
    string(JOIN " " flags ${${CMAKE_MATCH_1}_LDFLAGS})
    string(APPEND QUASAR_PRIVATE_LIBS " ${flags}")
  else()
    string(APPEND QUASAR_PRIVATE_LIBS " -l${lib}")
  endif()
endforeach()
file(RELATIVE_PATH QUASAR_UP /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x) # so that what is installed can be moved
configure_file(cmake/quasar.pc.in quasar.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/quasar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

include(CMakePackageConfigHelpers)
write_basic_package_version_file(QuasarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/QuasarConfig.cmake.in QuasarConfig.cmake COPYONLY)
install(EXPORT QuasarTargets NAMESPACE Quasar:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Quasar COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/QuasarConfig.cmake ${CMAKE_BINARY_DIR}/QuasarConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Quasar COMPONENT dev)

# Packages for Debian and Ubuntu.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quasar)
set(CPACK_PACKAGE_CONTACT "The Quasar founders <maintainers@quasar.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
string(REPLACE ".dev" "~dev" CPACK_PACKAGE_VERSION ${QUASAR_VERSION}) # as in deb.py
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/deb/shlibs ${CMAKE_BINARY_DIR}/deb/triggers)
set(long "Kernels, loops and array expressions of the language run as machine
code on all processors, on an OpenCL device or on an NVIDIA GPU.")
set(exactly "(= ${CPACK_PACKAGE_VERSION})")
function(deb component package section summary depends recommends)
  string(TOUPPER ${component} C)
  set(CPACK_DEBIAN_${C}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_DESCRIPTION "${summary}\n${long}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  install(FILES ${CMAKE_BINARY_DIR}/deb/copyright ${CMAKE_BINARY_DIR}/deb/changelog.gz
          DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
set(llvm "libllvm19 | libllvm18 | libllvm17 | libllvm16 | libllvm22 | libllvm21 | libllvm20")
# The packages of the lazily loaded libraries, such as libpng16-16 for libpng16.so.16: no program is linked with them.
set(late "")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr") # make deb: it takes a second
  foreach(library PNG JPEG TIFF PCRE2 ZLIB EXPAT)
    list(APPEND files "*/${QUASAR_${library}}")
  endforeach()
  execute_process(COMMAND dpkg-query -S ${files} OUTPUT_VARIABLE found ERROR_QUIET)
  string(REGEX MATCHALL "\n[a-z0-9.+-]+:" late "\n${found}")
  list(REMOVE_DUPLICATES late)
  string(REGEX REPLACE "[\n:]" "" late "${late}")
  string(REPLACE ";" ", " late "${late}")
endif()
deb(qrun quasar interpreters "Array language for images and signals, command and prompt" "quasar-common ${exactly}"
    "${llvm}, libopenblas0, libedit2, libhdf5-310 | libhdf5-103-1t64 | libhdf5-103-1")
deb(common quasar-common interpreters "Array language for images and signals, library" "${late}"
    "python3, python3-numpy")
deb(lib libquasar0 libs "Array language for images and signals, shared library" "quasar-common ${exactly}" "${llvm}")
deb(dev libquasar-dev libdevel "Array language for images and signals, for development" "libquasar0 ${exactly}" "")
install(FILES ${CMAKE_BINARY_DIR}/deb/overrides DESTINATION share/lintian/overrides RENAME libquasar0 COMPONENT lib
        EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL qrun common lib dev)
include(CPack)
