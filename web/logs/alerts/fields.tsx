/** Whole numbers of the alert policy in forms. */
import { ApiError } from '../../shared/api/http.js';
import { TextField } from '../../shared/components/form.js';
import { texts } from '../texts.js';

interface NumberFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly name: string;
  readonly value: number;
  readonly min?: number;
}

export const NumberField = ({ label, hint, name, value, min = 0 }: NumberFieldProps) => (
  <TextField
    label={label}
    {...(hint !== undefined && { hint })}
    name={name}
    type="number"
    inputMode="numeric"
    min={min}
    step="any"
    defaultValue={String(value)}
    required
  />
);

/** Value of a field times `factor`, whole; rejects what is no number of at least `min`. */
export function numberOf(values: FormData, name: string, { min = 0, factor = 1 } = {}): number {
  const text = String(values.get(name) ?? '').trim();
  const value = Math.round(Number(text) * factor);
  if (text === '' || !Number.isFinite(value) || value < min * factor) throw new ApiError(texts.alerts.required(min));
  return value;
}
