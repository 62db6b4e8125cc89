// Served in place of the suite's own testdriver-vendor.js: a click without a driver. Permissions are granted from the start, and stay.
window.test_driver_internal.click = element => {
  element.click();
  return Promise.resolve();
};
window.test_driver_internal.set_permission = (_, state) =>
  state === 'granted' ? Promise.resolve() : Promise.reject('set_permission not implemented');
