/** Settings of the room service. */
import { integer, port, type Settings, string, strings } from '../config/setting.js';

export const roomsSettings = {
  'rooms.port': port(3004, 'Port of the rooms service; 0 picks a free one'),
  'rooms.appUrl': string('Public address of the rooms service, if it differs from the listening address'),
  'rooms.minTtlMs': integer(60_000, 'Shortest life of a room, in milliseconds'),
  'rooms.maxTtlMs': integer(86_400_000, 'Longest life of a room, in milliseconds'),
  'rooms.createPerHour': integer(30, 'Rooms that one client address may create per hour'),
  'rooms.allowedOrigins': strings(['*'], 'Origins whose pages may call the rooms service; * for all'),
} as const satisfies Settings;
