/** The full blocks of a part that may hold what is asked for, as its registers tell, many by one row. */
import type { Db } from 'mongodb';
import { unhurried } from '../../application/logs/pace.js';
import type { Vault } from '../../application/ports.js';
import type { Filter } from '../../domain/logs/filter.js';
import { termsOfFilter } from '../../domain/logs/terms.js';
import type { Header } from './located.js';
import { type Part, sectionsIn } from './parts.js';
import {
  headersIn,
  type Listed,
  openFilters,
  REGISTERS,
  registersIn,
  type SealedTerms,
  termsId,
} from './register.js';
import { termSection } from './sections.js';
import { mayHold } from './term-filter.js';

/** In no order, some perhaps twice: registers of one block become one of many meanwhile. */
export async function registeredBlocks(
  { db, vault }: { readonly db: Db; readonly vault: Vault },
  name: string,
  part: Part,
  filter: Filter,
): Promise<readonly Header[]> {
  const { from = 0, to = Number.POSITIVE_INFINITY, producerId } = filter;
  const terms = termsOfFilter(filter);
  const names = [...new Set(terms.map(termSection))];
  const projection = {
    subject: 1,
    blocks: 1,
    ...Object.fromEntries(names.map((name) => [`sections.${name}`, 1])),
  };
  const within = {
    ...(from > part.from && { to: { $gte: from } }),
    ...(to < part.to && { from: { $lte: to } }),
  };
  const rows = registersIn(db.collection(`${name}.${sectionsIn(part.name)}`));
  const registers = await rows
    .find({ ...REGISTERS, ...within }, { projection })
    .sort({ _id: 1 })
    .toArray();
  const many = registers.filter(({ sections }) => !sections).map(({ _id }) => _id);
  const ids = many.flatMap((id) => names.map((each) => termsId(id, each)));
  const apart = ids.length > 0 ? await rows.find({ _id: { $in: ids } }).toArray() : [];
  const apartById = new Map(apart.map(({ _id, sections }) => [_id, sections]));
  const found: Header[] = [];
  for (const register of registers) {
    const turn = unhurried();
    if (turn) await turn;
    const { _id, subject, sections } = register;
    const sealed: SealedTerms =
      sections ?? Object.assign({}, ...names.map((each) => apartById.get(termsId(_id, each))));
    // Where they have gone, or can't be opened, the blocks themselves tell, or that their key is destroyed.
    const isThere = names.length > 0 && names.every((each) => each in sealed);
    const filters = isThere ? await openFilters(vault, subject, sealed) : undefined;
    const passes = (each: Listed, nth: number) =>
      each.count > 0 &&
      each.to >= from &&
      each.from <= to &&
      (producerId ?? each.producerId) === each.producerId &&
      (!filters || terms.every((term) => mayHold(filters.get(termSection(term))![nth]!, term)));
    found.push(...headersIn(register, passes));
  }
  return found;
}
