/** The full blocks of a part that may hold what is asked for, as its registers tell, many by one row. */
import type { Db } from 'mongodb';
import { unhurried } from '../../application/logs/pace.js';
import type { Vault } from '../../application/ports.js';
import type { Filter } from '../../domain/logs/filter.js';
import { termsOfFilter } from '../../domain/logs/terms.js';
import type { Header } from './located.js';
import { type Part, sectionsIn } from './parts.js';
import { headersIn, type Listed, openFilters, REGISTERS, type RegisterRow } from './register.js';
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
  const sections = terms.map((term) => [`sections.${termSection(term)}`, 1]);
  const projection = { subject: 1, blocks: 1, ...Object.fromEntries(sections) };
  const within = {
    ...(from > part.from && { to: { $gte: from } }),
    ...(to < part.to && { from: { $lte: to } }),
  };
  const rows = db
    .collection<RegisterRow>(`${name}.${sectionsIn(part.name)}`)
    .find({ ...REGISTERS, ...within }, { projection })
    .sort({ _id: 1 });
  const found: Header[] = [];
  for await (const row of rows) {
    const turn = unhurried();
    if (turn) await turn;
    // Where they can't be opened the blocks themselves tell, or that their key is destroyed.
    const filters = terms.length > 0 ? await openFilters(vault, row) : undefined;
    const passes = (each: Listed, nth: number) =>
      each.to >= from &&
      each.from <= to &&
      (producerId ?? each.producerId) === each.producerId &&
      (!filters || terms.every((term) => mayHold(filters.get(termSection(term))![nth]!, term)));
    found.push(...headersIn(row, passes));
  }
  return found;
}
