/** The levels that loggers know: a closed list, so that these may be told where nothing else of a record may be. */

export const USUAL_LEVELS: readonly string[] = [
  ...['TRACE', 'DEBUG', 'INFO', 'NOTICE', 'WARN', 'WARNING', 'ERROR', 'FATAL'],
  ...['CRITICAL', 'ALERT', 'EMERGENCY', 'CRIT', 'ERR', 'EMERG', 'PANIC', 'SEVERE'],
  ...['VERBOSE', 'SILLY', 'HTTP', 'FINE', 'FINER', 'FINEST', 'CONFIG', 'LOG'],
];

const BITS = new Map(USUAL_LEVELS.map((level, index) => [level, 2 << index]));
const OTHER = 1;

export const isUsualLevel = (level: string): boolean => BITS.has(level);

/** One bit for every usual level, and one for all others together: a set of levels is the sum of theirs. */
export const levelBit = (level: string): number => BITS.get(level) ?? OTHER;
