/** Sizes of files for people. */
import { texts } from '../texts.js';

const UNITS = ['kB', 'MB', 'GB'];

export function inBytes(bytes: number): string {
  if (bytes < 1000) return texts.files.size(bytes);
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power - 1]}`;
}
