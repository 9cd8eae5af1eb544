/** What is asked of another node and not heard yet: in order for each target, and bounded in bytes for all. */

export interface Asked {
  readonly number: number;
  readonly target: string;
  readonly bytes: number;
  /** Sends it. */
  go(): void;
  settle(came: boolean): void;
}

/** So much may be under way to one node: of targets that read nothing, so many hold up the others. */
const UNDER_WAY_BYTES = 16 * 1024 * 1024;

export function createWindow(limit = UNDER_WAY_BYTES) {
  /** By target: the first is under way, or waits for room with those of other targets. */
  const lanes = new Map<string, Asked[]>();
  const underWay = new Map<number, Asked>();
  let waiting: Asked[] = [];
  let bytes = 0;

  function begin(asked: Asked) {
    bytes += asked.bytes;
    underWay.set(asked.number, asked);
    asked.go();
  }

  function pump() {
    while (waiting[0] && (bytes === 0 || bytes + waiting[0].bytes <= limit)) begin(waiting.shift()!);
  }

  return {
    add(asked: Asked) {
      const lane = lanes.get(asked.target);
      if (lane) return void lane.push(asked);
      lanes.set(asked.target, [asked]);
      waiting.push(asked);
      pump();
    },

    /** What has this number was heard. */
    heard(number: number, came: boolean) {
      const asked = underWay.get(number);
      if (!asked) return;
      underWay.delete(number);
      bytes -= asked.bytes;
      const lane = lanes.get(asked.target)!;
      lane.shift();
      if (lane[0]) waiting.push(lane[0]);
      else lanes.delete(asked.target);
      pump();
      asked.settle(came);
    },

    /** The other one is gone, and whatever was asked of it. */
    lose() {
      const all = [...lanes.values()].flat();
      lanes.clear();
      underWay.clear();
      waiting = [];
      bytes = 0;
      for (const asked of all) asked.settle(false);
    },
  };
}
