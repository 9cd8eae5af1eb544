/** Events of the server settings. */
import { event, id, object, text, time } from '../../shared/index.js';

/** Stream of the settings, and key subject of the name. */
export const SETTINGS = 'chat.settings-main';

export const SERVER_NAME = 'Annals';

export const settingsEvents = {
  ServerRenamed: event(object({ by: id, renamedAt: time, secret: object({ name: text }) }), {
    sealed: { subject: () => SETTINGS, erased: { name: SERVER_NAME } },
  }),
} as const;
