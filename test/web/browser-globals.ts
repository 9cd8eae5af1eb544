/** Globals of browsers for modules of the pages that tests run in Node. */

/** Storage in memory; `isFull` makes it refuse new values. */
export function memoryStorage() {
  const values = new Map<string, string>();
  const storage = {
    isFull: false,
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem(key: string, value: string) {
      if (storage.isFull) throw new DOMException('full', 'QuotaExceededError');
      values.set(key, value);
    },
    removeItem: (key: string) => values.delete(key),
  };
  return storage;
}

/** To be called within `describe`: sets globals, with an empty storage, for its tests. */
export function useBrowserGlobals(more: { readonly [name: string]: unknown } = {}): void {
  const globals: { [name: string]: unknown } = {
    addEventListener: () => {},
    removeEventListener: () => {},
    localStorage: memoryStorage(),
    ...more,
  };
  const replaced = new Map<string, PropertyDescriptor | undefined>();
  before(() => {
    for (const [name, value] of Object.entries(globals)) {
      replaced.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  });
  after(() => {
    for (const [name, descriptor] of replaced)
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
  });
}
