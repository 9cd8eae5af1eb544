/** What this browser notifies about, with the browser's permission. */
import { Button } from '../../shared/components/button.js';
import { SelectField } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import { askPermission, notify, permission } from '../../shared/notifications.js';
import { settingsTexts } from '../texts/settings.js';
import { type NotifyAbout, notifyAbout, setNotifyAbout } from './notifications.js';

const texts = settingsTexts.notifications;
const CHOICES: readonly NotifyAbout[] = ['everything', 'mentions', 'nothing'];

async function choose(value: NotifyAbout) {
  setNotifyAbout(value);
  if (value !== 'nothing' && (await askPermission()) === 'denied') toast({ text: texts.refused, tone: 'bad' });
}

async function showExample() {
  if ((await askPermission()) === 'granted') notify(texts.exampleTitle, texts.exampleText, 'example');
}

export function NotificationsSection() {
  if (permission.value === 'unsupported') return <p class="quiet">{texts.unsupported}</p>;
  return (
    <div class="settings-part">
      <p class="quiet">{texts.hint}</p>
      <SelectField
        label={texts.about}
        value={notifyAbout.value}
        onChange={({ currentTarget }) => choose(currentTarget.value as NotifyAbout)}
      >
        {CHOICES.map((each) => (
          <option key={each} value={each}>
            {texts[each]}
          </option>
        ))}
      </SelectField>
      {permission.value === 'denied' ? <p>{texts.blocked}</p> : <Button onClick={showExample}>{texts.test}</Button>}
    </div>
  );
}
