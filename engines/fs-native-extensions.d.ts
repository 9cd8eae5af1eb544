/** The part of `fs-native-extensions` that is used here; the package ships no types. */
declare module 'fs-native-extensions' {
  /** True when the exclusive advisory lock on the open file was granted; it lasts until the file is closed. */
  export function tryLock(fd: number): boolean;
}
