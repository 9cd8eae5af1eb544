/** Menu beside a switch: the devices to choose from. */
import { ChevronUp, Settings2 } from 'lucide-preact';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import { isDeviceDialogOpen } from '../devices/device-dialog.js';
import { switchDevice } from '../devices/device-fields.js';
import { canChooseSpeaker, chosenDevice, type DeviceKind, devices } from '../media/devices.js';
import { texts } from '../texts.js';

function choices(kind: DeviceKind): readonly MenuEntry[] {
  const chosen = chosenDevice(kind);
  return [
    {
      label: texts.devices.defaultOf(NAMES[kind]),
      checked: chosen === undefined,
      run: () => void switchDevice(kind, undefined),
    },
    ...devices[kind].value.map(({ id, name }) => ({
      label: name,
      checked: id === chosen,
      run: () => void switchDevice(kind, id),
    })),
  ];
}

const NAMES = {
  videoinput: texts.devices.camera,
  audioinput: texts.devices.microphone,
  audiooutput: texts.devices.speaker,
} as const;

interface DeviceMenuProps {
  readonly kind: 'audioinput' | 'videoinput';
  readonly label: string;
}

export const DeviceMenu = ({ kind, label }: DeviceMenuProps) => (
  <Menu
    small
    icon={ChevronUp}
    label={texts.devices.choose(label)}
    placement="top"
    items={() => [
      ...choices(kind),
      'separator',
      ...(kind === 'audioinput' && canChooseSpeaker ? [...choices('audiooutput'), 'separator' as const] : []),
      {
        label: texts.devices.settings,
        icon: Settings2,
        run: () => {
          isDeviceDialogOpen.value = true;
        },
      },
    ]}
  />
);
