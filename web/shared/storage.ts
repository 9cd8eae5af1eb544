/** Values kept in the browser as JSON; a browser that refuses storage, or a damaged value, gives the default. */

export interface Stored<Value> {
  get(): Value;
  /** Returns false if the browser refuses: what was stored before is still there. */
  set(value: Value): boolean;
  remove(): void;
}

export function stored<Value>(key: string, initial: Value, storage: () => Storage = () => localStorage): Stored<Value> {
  return {
    get() {
      try {
        const text = storage().getItem(key);
        return text === null ? initial : (JSON.parse(text) as Value);
      } catch {
        return initial;
      }
    },
    set(value) {
      try {
        storage().setItem(key, JSON.stringify(value));
        return true;
      } catch {
        // Private windows and full storages keep the value for this page only.
        return false;
      }
    },
    remove() {
      try {
        storage().removeItem(key);
      } catch {}
    },
  };
}
