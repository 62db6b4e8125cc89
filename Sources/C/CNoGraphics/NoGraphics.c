// An EGL vendor library (libglvnd's interface, libeglabi.h) without any drawing in it: a display that has no configurations.
//
// WebKit's processes want an EGL display when they start, even where the processor draws all pages, and end without one. Mesa's would bring
// the code generator of LLVM into each of them: tens of megabytes for nothing. Here WebGL finds that it cannot be had, as on any
// machine without it.

#include "CNoGraphics.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <glvnd/libeglabi.h>
#include <string.h>

static int the_display;

static EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes) { return &the_display; }

static EGLBoolean supports_api(EGLenum api) { return api == EGL_OPENGL_ES_API || api == EGL_OPENGL_API; }

static const char *vendor_string(int name) {
  return NULL;
}

static EGLBoolean initialize(EGLDisplay display, EGLint *major, EGLint *minor) {
  if (major) *major = 1;
  if (minor) *minor = 4;
  return EGL_TRUE;
}

static EGLBoolean succeed(void) { return EGL_TRUE; }

static EGLint last_error(void) { return EGL_SUCCESS; }

static const char *query_string(EGLDisplay display, EGLint name) {
  switch (name) {
    case EGL_VENDOR: return "Parlor";
    case EGL_VERSION: return "1.4 none";
    case EGL_CLIENT_APIS: return "OpenGL_ES OpenGL";
    case EGL_EXTENSIONS: return "";
    default: return NULL;
  }
}

static EGLBoolean no_configs(EGLDisplay display, EGLConfig *configs, EGLint size, EGLint *count) {
  if (count) *count = 0;
  return EGL_TRUE;
}

static EGLBoolean choose_no_configs(EGLDisplay display, const EGLint *attributes, EGLConfig *configs, EGLint size, EGLint *count) {
  return no_configs(display, configs, size, count);
}

/// Contexts, surfaces and whatever else needs a configuration: there is none.
static void *nothing(void) { return NULL; }

static void *find(const char *name) {
  static const struct { const char *name; void *function; } known[] = {
      {"eglInitialize", initialize}, {"eglTerminate", succeed}, {"eglQueryString", query_string}, {"eglGetError", last_error},
      {"eglGetConfigs", no_configs}, {"eglChooseConfig", choose_no_configs}, {"eglBindAPI", succeed}, {"eglReleaseThread", succeed},
  };
  for (size_t index = 0; index < sizeof known / sizeof *known; index++) {
    if (strcmp(known[index].name, name) == 0) return known[index].function;
  }
  static const char *const core[] = {
      "eglCopyBuffers", "eglCreateContext", "eglCreatePbufferSurface", "eglCreatePixmapSurface", "eglCreateWindowSurface", "eglDestroyContext",
      "eglDestroySurface", "eglGetConfigAttrib", "eglMakeCurrent", "eglQueryContext", "eglQuerySurface", "eglSwapBuffers", "eglWaitGL",
      "eglWaitNative", "eglBindTexImage", "eglReleaseTexImage", "eglSurfaceAttrib", "eglSwapInterval", "eglCreatePbufferFromClientBuffer",
      "eglWaitClient", "eglQueryAPI", "eglGetCurrentContext",
  };
  for (size_t index = 0; index < sizeof core / sizeof *core; index++) {
    if (strcmp(core[index], name) == 0) return nothing;
  }
  return NULL;
}

/// Functions of extensions: there are none.
static void *no_extension(const char *name) { return NULL; }

static void set_dispatch_index(const char *name, int index) {}

EGLBoolean __egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor, __EGLapiImports *imports) {
  if (EGL_VENDOR_ABI_GET_MAJOR_VERSION(version) != EGL_VENDOR_ABI_MAJOR_VERSION) return EGL_FALSE;
  imports->getPlatformDisplay = get_platform_display;
  imports->getSupportsAPI = supports_api;
  imports->getVendorString = vendor_string;
  imports->getProcAddress = find;
  imports->getDispatchAddress = no_extension;
  imports->setDispatchIndex = set_dispatch_index;
  return EGL_TRUE;
}
