/** Well-known log levels: a closed list, so they may be stored unencrypted. */

export const USUAL_LEVELS: readonly string[] = [
  ...['TRACE', 'DEBUG', 'INFO', 'NOTICE', 'WARN', 'WARNING', 'ERROR', 'FATAL'],
  ...['CRITICAL', 'ALERT', 'EMERGENCY', 'CRIT', 'ERR', 'EMERG', 'PANIC', 'SEVERE'],
  ...['VERBOSE', 'SILLY', 'HTTP', 'FINE', 'FINER', 'FINEST', 'CONFIG', 'LOG'],
];

const BITS = new Map(USUAL_LEVELS.map((level, index) => [level, 2 << index]));
const OTHER = 1;

export const isUsualLevel = (level: string): boolean => BITS.has(level);

/** One bit per usual level, and one for all others; a set of levels is the union of its bits. */
export const levelBit = (level: string): number => BITS.get(level) ?? OTHER;
