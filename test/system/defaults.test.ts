/** The defaults of all settings, which no start validates. */
import { validateValues } from '../../adapters/platform/config/values.js';
import type { Settings } from '../../application/config/setting.js';
import { settings } from '../../bin/settings.js';

describe('the default', () => {
  for (const [key, setting] of Object.entries<Settings[string]>(settings))
    if (setting.default !== undefined)
      it(`of ${key} is a valid value`, () => {
        validateValues([{ key, setting, value: setting.default, origin: { from: 'file' } }]);
      });
});
