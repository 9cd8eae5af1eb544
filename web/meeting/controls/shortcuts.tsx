/** Keys that work while no field has the focus, and the dialog that lists them. */
import { signal } from '@preact/signals';
import { Dialog } from '../../shared/components/dialog.js';
import { Checkbox } from '../../shared/components/form.js';
import { stored } from '../../shared/storage.js';
import { togglePanel } from '../meeting/panel.js';
import { view } from '../meeting/state.js';
import { isCameraOn, isMicrophoneOn, switchCamera, switchMicrophone, toggleHand } from '../meeting/switches.js';
import { texts } from '../texts.js';

const { shortcuts: words, controls } = texts;

export const isShortcutDialogOpen = signal(false);

const kept = stored('meeting.shortcuts', true);
const isEnabled = signal(kept.get());

interface Shortcut {
  readonly key: string;
  readonly label: string;
  readonly run: () => unknown;
}

const SHORTCUTS: readonly Shortcut[] = [
  { key: 'm', label: `${controls.mute} / ${controls.unmute}`, run: () => switchMicrophone(!isMicrophoneOn.value) },
  { key: 'v', label: `${controls.cameraOn} / ${controls.cameraOff}`, run: () => switchCamera(!isCameraOn.value) },
  { key: 'h', label: `${controls.raiseHand} / ${controls.lowerHand}`, run: toggleHand },
  { key: 'p', label: controls.people, run: () => togglePanel('people') },
  { key: 'c', label: controls.chat, run: () => togglePanel('chat') },
  { key: '?', label: words.show, run: () => (isShortcutDialogOpen.value = true) },
];

/** Elements that use keys themselves. */
const USES_KEYS = 'input, textarea, select, [role=menu], dialog';

function applies(event: KeyboardEvent): boolean {
  if (!isEnabled.value || view.value !== 'meeting') return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  return (
    !(event.target instanceof Element && event.target.closest(USES_KEYS)) && !document.querySelector('dialog[open]')
  );
}

/** While the space bar is held, a muted microphone is on. */
let isTalking = false;

const isButton = ({ target }: KeyboardEvent) => target instanceof Element && target.closest('button, a') !== null;

export function watchShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.repeat || !applies(event)) return;
    if (event.key === ' ' && !isButton(event) && !isMicrophoneOn.value) {
      event.preventDefault();
      isTalking = true;
      void switchMicrophone(true);
    }
    const shortcut = SHORTCUTS.find(({ key }) => key === event.key.toLowerCase());
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
  const stopTalking = () => {
    if (isTalking) void switchMicrophone(false);
    isTalking = false;
  };
  addEventListener('keyup', (event) => {
    if (event.key === ' ') stopTalking();
  });
  addEventListener('blur', stopTalking);
}

export function ShortcutDialog() {
  if (!isShortcutDialogOpen.value) return null;
  return (
    <Dialog title={words.title} onClose={() => (isShortcutDialogOpen.value = false)}>
      <p class="quiet">{words.about}</p>
      <dl class="shortcuts">
        {SHORTCUTS.map(({ key, label }) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>
              <kbd>{key.toUpperCase()}</kbd>
            </dd>
          </div>
        ))}
        <div>
          <dt>{words.talk}</dt>
          <dd>
            {words.hold} <kbd>{words.space}</kbd>
          </dd>
        </div>
      </dl>
      <Checkbox
        label={words.enabled}
        checked={isEnabled.value}
        onChange={({ currentTarget: { checked } }) => {
          isEnabled.value = checked;
          kept.set(checked);
        }}
      />
    </Dialog>
  );
}
