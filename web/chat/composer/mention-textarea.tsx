/** A growing text field that completes mentions. */
import { Megaphone } from 'lucide-preact';
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useState } from 'preact/hooks';
import { Avatar } from '../../shared/components/avatar.js';
import { Icon } from '../../shared/components/icon.js';
import { isComposing } from '../../shared/dom.js';
import { completeMention, type MentionOption, mentionOptions, mentionQuery } from '../state/completion.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';

interface MentionTextareaProps {
  readonly field: RefObject<HTMLTextAreaElement>;
  readonly value: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Whose names are offered, and whether everyone can be addressed. */
  readonly placeId: string;
  readonly onChange: (value: string) => void;
  /** Keys that do not concern the completion. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onPaste?: (event: ClipboardEvent) => void;
}

const isEveryone = ({ id }: MentionOption): boolean => id.startsWith('@');

const MAX_HEIGHT_PX = 260;
/** Limit of the service. */
const MAX_LENGTH = 8000;

export function MentionTextarea(props: MentionTextareaProps) {
  const { field, value, label, placeholder, placeId, onChange, onKeyDown, onPaste } = props;
  const { store } = useWorkspace();
  const listId = useId();
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(0);
  const [dismissed, setDismissed] = useState<number>();

  const query = caret === undefined ? undefined : mentionQuery(value, caret);
  const state = store.state.value;
  const isChannel = state.channels.has(placeId);
  const options = query && query.start !== dismissed ? mentionOptions(mentionable(), query.text, isChannel) : [];
  const isOpen = options.length > 0;
  /** The name is typed in full: Enter sends. */
  const isComplete = query?.text.toLowerCase() === options[active]?.name.toLowerCase();

  function mentionable() {
    const channel = state.channels.get(placeId);
    const people = [...state.users.values()];
    if (channel) return channel.isPrivate ? people.filter(({ id }) => channel.members.includes(id)) : people;
    const participants = state.conversations.get(placeId)?.participants ?? [];
    return people.filter(({ id }) => participants.includes(id));
  }

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight + 2, MAX_HEIGHT_PX)}px`;
  }, [value]);
  useEffect(() => setActive(0), [query?.start, query?.text]);

  const readCaret = () => setCaret(field.current?.selectionEnd);

  function choose(option: MentionOption) {
    if (!query || caret === undefined) return;
    const completed = completeMention(value, query, option.name, caret);
    onChange(completed.text);
    setCaret(undefined);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(completed.caret, completed.caret);
    });
  }

  function handleKey(event: KeyboardEvent) {
    if (isComposing(event)) return;
    const option = options[active];
    if (!isOpen || !option) return onKeyDown(event);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setActive((active + step + options.length) % options.length);
    else if (event.key === 'Enter' && isComplete) return onKeyDown(event);
    else if (event.key === 'Enter' || event.key === 'Tab') choose(option);
    else if (event.key === 'Escape') setDismissed(query?.start);
    else return onKeyDown(event);
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="mention-field">
      {isOpen && (
        <div class="completions" role="listbox" id={listId} aria-label={texts.people}>
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
            <div
              key={option.id}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerEnter={() => setActive(index)}
              onPointerDown={(event) => {
                event.preventDefault();
                choose(option);
              }}
            >
              {isEveryone(option) ? <Icon of={Megaphone} /> : <Avatar small id={option.id} name={option.name} />}
              <span>{option.name}</span>
              {isEveryone(option) && <span class="quiet">{texts.everyoneHint(option.name)}</span>}
            </div>
          ))}
        </div>
      )}
      <textarea
        ref={field}
        rows={1}
        value={value}
        maxLength={MAX_LENGTH}
        aria-label={label}
        placeholder={placeholder}
        aria-autocomplete="list"
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? `${listId}-${active}` : undefined}
        onInput={(event) => {
          onChange(event.currentTarget.value);
          readCaret();
          setDismissed(undefined);
        }}
        onClick={readCaret}
        onKeyUp={({ key }) => key.startsWith('Arrow') && !isOpen && readCaret()}
        onBlur={() => setCaret(undefined)}
        onKeyDown={handleKey}
        onPaste={onPaste}
      />
    </div>
  );
}
