#pragma once
#include <linux/dma-buf.h>
#include <xf86drm.h>

// The kernel's vgem, a card that has memory and no display (include/uapi/drm/vgem_drm.h, which no package of headers has).
struct vgem_fence_attach {
  uint32_t handle, flags, out_fence, padding;
};
struct vgem_fence_signal {
  uint32_t fence, flags;
};

/// Marks a buffer as being written to, until `vgem_signal`; after ten seconds the kernel loses its patience. Returns 0, or -1 with errno.
static inline int vgem_attach_fence(int card, uint32_t handle, uint32_t *fence) {
  struct vgem_fence_attach request = {.handle = handle, .flags = 1};
  int status = drmIoctl(card, DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach), &request);
  *fence = request.out_fence;
  return status;
}
/// The buffer is written. Returns 0, or -1 with errno; ETIMEDOUT when the kernel has lost its patience.
static inline int vgem_signal(int card, uint32_t fence) {
  struct vgem_fence_signal request = {.fence = fence};
  return drmIoctl(card, DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_fence_signal), &request);
}
/// A sync file that is ready when the memory may be read, or -1 with errno.
static inline int dma_buffer_export_fence(int memory) {
  struct dma_buf_export_sync_file request = {.flags = DMA_BUF_SYNC_READ, .fd = -1};
  return drmIoctl(memory, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) == 0 ? request.fd : -1;
}
