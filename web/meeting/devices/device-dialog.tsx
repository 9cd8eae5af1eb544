/** Camera and sound, during the meeting. */
import { signal } from '@preact/signals';
import { Volume2 } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Checkbox } from '../../shared/components/form.js';
import { changePreferences, preferences } from '../media/devices.js';
import { me, nameOf } from '../meeting/state.js';
import { texts } from '../texts.js';
import { DeviceFields } from './device-fields.js';
import { Preview } from './preview.js';
import { playTestSound } from './test-sound.js';

const { devices: words } = texts;

export const isDeviceDialogOpen = signal(false);

export function DeviceDialog() {
  if (!isDeviceDialogOpen.value) return null;
  const close = () => {
    isDeviceDialogOpen.value = false;
  };
  return (
    <Dialog title={words.settings} onClose={close}>
      <Preview name={nameOf(me.value ?? '')} />
      <DeviceFields />
      <DeviceExtras />
      <div class="dialog-actions">
        <Button variant="main" onClick={close}>
          {words.done}
        </Button>
      </div>
    </Dialog>
  );
}

export const DeviceExtras = () => (
  <div class="device-extras">
    <Checkbox
      label={words.mirror}
      checked={preferences.value.isMirrored}
      onChange={({ currentTarget: { checked } }) => changePreferences({ isMirrored: checked })}
    />
    <Button small icon={Volume2} onClick={() => void playTestSound()}>
      {words.test}
    </Button>
  </div>
);
