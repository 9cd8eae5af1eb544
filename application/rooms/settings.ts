/** Settings of the room service. */
import type { Settings } from '../config/setting.js';

export const roomsSettings = {
  'rooms.port': {
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 3004,
    description: 'Port of the rooms service; 0 picks a free one',
  },
  'rooms.appUrl': {
    type: 'string',
    description: 'Public address of the rooms service, if it differs from the listening address',
  },
  'rooms.minTtlMs': {
    type: 'integer',
    minimum: 1,
    default: 60_000,
    description: 'Shortest life of a room, in milliseconds',
  },
  'rooms.maxTtlMs': {
    type: 'integer',
    minimum: 1,
    default: 86_400_000,
    description: 'Longest life of a room, in milliseconds',
  },
  'rooms.createPerHour': {
    type: 'integer',
    minimum: 1,
    default: 30,
    description: 'Rooms that one client address may create per hour',
  },
  'rooms.allowedOrigins': {
    type: 'array',
    items: { type: 'string' },
    default: ['*'],
    description: 'Origins whose pages may call the rooms service; * for all',
  },
} as const satisfies Settings;
