/** Fields with label, hint and error; forms that show what the service rejects. */
import { CircleAlert } from 'lucide-preact';
import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { messageOf } from '../api/http.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
}

interface ControlAttributes {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

/** Connects a control to its label, hint and error. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { readonly children: (attributes: ControlAttributes) => ComponentChildren }) {
  const id = useId();
  const description = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': description, 'aria-invalid': error ? true : undefined })}
      {error ? (
        <span class="error" id={`${id}-error`}>
          <Icon of={CircleAlert} />
          {error}
        </span>
      ) : (
        hint && (
          <span class="hint" id={`${id}-hint`}>
            {hint}
          </span>
        )
      )}
    </div>
  );
}

export const TextField = ({ label, hint, error, ...input }: FieldProps & Omit<InputHTMLAttributes, 'label'>) => (
  <Field label={label} hint={hint ?? ''} error={error}>
    {(attributes) => <input {...input} {...attributes} />}
  </Field>
);

export const TextAreaField = ({ label, hint, error, ...area }: FieldProps & Omit<TextareaHTMLAttributes, 'label'>) => (
  <Field label={label} hint={hint ?? ''} error={error}>
    {(attributes) => <textarea {...area} {...attributes} />}
  </Field>
);

type SelectProps = FieldProps & Omit<SelectHTMLAttributes, 'label'> & { readonly children: ComponentChildren };

export const SelectField = ({ label, hint, error, children, ...select }: SelectProps) => (
  <Field label={label} hint={hint ?? ''} error={error}>
    {(attributes) => (
      <select {...select} {...attributes}>
        {children}
      </select>
    )}
  </Field>
);

export const Checkbox = ({ label, ...input }: { readonly label: string } & Omit<InputHTMLAttributes, 'label'>) => (
  <label class="choice">
    <input {...input} type="checkbox" />
    {label}
  </label>
);

/** Message of a failed request; nothing without one. */
export const FormError = ({ error }: { readonly error: unknown }) =>
  error === undefined ? null : (
    <p class="form-error" role="alert">
      <Icon of={CircleAlert} />
      {messageOf(error)}
    </p>
  );

interface FormProps {
  readonly submitLabel: string;
  /** Values of the named fields. The form shows the message of a rejection and stays as it is. */
  readonly onSubmit: (values: FormData, form: HTMLFormElement) => Promise<unknown>;
  readonly onCancel?: () => void;
  readonly cancelLabel?: string;
  readonly children: ComponentChildren;
}

export function Form({ submitLabel, onSubmit, onCancel, cancelLabel = 'Cancel', children }: FormProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(new FormData(form), form);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form class="form" onSubmit={submit}>
      {children}
      <FormError error={error} />
      <div class="dialog-actions">
        {onCancel && <Button onClick={onCancel}>{cancelLabel}</Button>}
        <Button variant="main" type="submit" busy={busy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}
