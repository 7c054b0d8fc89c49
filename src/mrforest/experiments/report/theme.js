// SPDX-License-Identifier: BSD-3-Clause
// Runs before anything is drawn, so that the page does not flash.
"use strict";
const memory = {
  key: "mrforest-report-theme",
  // Some browsers keep nothing for local files: then the system's choice stands.
  read() {
    try { return localStorage.getItem(this.key); } catch { return null; }
  },
  write(theme) {
    try { localStorage.setItem(this.key, theme); } catch { return; }
  },
};
const isTheme = (theme) => theme === "light" || theme === "dark";
if (isTheme(memory.read())) document.documentElement.dataset.theme = memory.read();
