/**
 * Bugs in the audit log: a row that is lost, told twice, changed unnoticed, or shown to somebody else.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const STATE = 'state-machine/audit'
const SPOOL = 'audit/audit-spool'
const CRASHES = 'audit/spool-crashes'

const rows: readonly TestedRow[] = [
  [
    'U1',
    'a refusal leaves no row',
    'src/state-machine/state-machine.ts',
    '  if (origin !== undefined) recordChange(',
    '  if (origin !== undefined && reply.ok) recordChange(',
    STATE,
  ],
  [
    'U3',
    'rows of a spool are taken over again',
    'src/state-machine/audit.ts',
    'first < known.next',
    'first < 0',
    STATE,
  ],
  [
    'U4',
    'how far a spool was taken over is not remembered',
    'src/state-machine/audit.ts',
    '  draft.put(key, { next, time: context.time })\n',
    '',
    CRASHES,
  ],
  [
    'U5',
    'a link does not depend on the one before it',
    'src/state-machine/audit-chain.ts',
    '  return digest(`${before}\\n${text}`)\n',
    '  return digest(`${before.length}\\n${text}`)\n',
    STATE,
  ],
  [
    'U6',
    'the rows of a batch are not compared with their digest',
    'src/state-machine/audit-chain.ts',
    'this.#digest(rows) !== digest',
    'this.#digest(rows) === null',
    STATE,
  ],
  [
    'U7',
    'a trimmed chain has the anchor of before',
    'src/state-machine/audit.ts',
    '    anchor = link.hash\n',
    '',
    STATE,
  ],
  [
    'U8',
    'one entry trims without a bound',
    'src/state-machine/audit.ts',
    'trimmed === AUDIT_TRIM_LINKS_MAX ||',
    'trimmed < 0 ||',
    STATE,
  ],
  [
    'U9',
    'rows are told durable before they are flushed',
    'src/audit/spool-writer.ts',
    '    await flushed(() => file.sync())\n',
    '    void flushed(() => file.sync()).catch(() => undefined)\n',
    CRASHES,
  ],
  [
    'U10',
    'the name of a new file is not flushed',
    'src/audit/spool-writer.ts',
    '      await flushed(() => this.#parts.files.syncDir(this.#parts.dir))\n',
    '',
    CRASHES,
  ],
  [
    'U11',
    'a file goes before the cluster has taken it over',
    'src/workers/audit-shipping.ts',
    '    const end = batch.first + batch.rows.length\n',
    '    const end = batch.first + batch.rows.length\n    await spool.taken(batch)\n',
    CRASHES,
  ],
  [
    'U12',
    'a failed flush is tried again',
    'src/audit/spool-writer.ts',
    '    } else this.#failure = error\n',
    '    }\n',
    SPOOL,
  ],
  [
    'U13',
    'damage in the middle is taken for a torn end',
    'src/audit/spool-reader.ts',
    'decodeGroup(rest, 0, seed) ?? nextGroup(rest, 0, seed)',
    'decodeGroup(rest, 0, seed)',
    SPOOL,
  ],
  [
    'U14',
    'nobody is refused for want of room',
    'src/audit/audit-spool.ts',
    'this.#reader.bytes >= this.#bytesMax',
    'this.#reader.bytes < 0',
    SPOOL,
  ],
  [
    'U15',
    'a request without room for its row is served',
    'src/api/http-server.ts',
    '    RequestAudit.of(request).unkept()\n    throw error\n',
    '    RequestAudit.of(request).unkept()\n',
    'api/audit-routes',
  ],
  [
    'U16',
    'a change is told of at the edge as well',
    'src/api/request-audit.ts',
    '      return !isTold\n',
    '      return true\n',
    'api/audit-routes',
  ],
  [
    'U17',
    'a change whose outcome is unknown is taken for told',
    'src/api/request-audit.ts',
    'if (asked > 0 && asked === answered) {',
    'if (asked > 0) {',
    'api/audit',
  ],
  [
    'U18',
    'the query stands in the row',
    'src/api/request-origin.ts',
    'path: pathOf(originForm(request.originalUrl)).slice',
    'path: originForm(request.originalUrl).slice',
    'api/audit-secrets',
  ],
  [
    'U19',
    'a token of one tenant sees all rows',
    'src/operations/audit/query-audit-log.ts',
    'if (asked === undefined || asked === tenantId) return { tenant: tenantId }',
    'if (asked === undefined || asked === tenantId) return {}',
    'api/audit',
  ],
  [
    'U20',
    'with audit.strict nobody waits',
    'src/api/request-audit.ts',
    '    await this.#services.audit.durable()\n',
    '    void this.#services.audit.durable()\n',
    'api/audit',
  ],
  [
    'U21',
    'a page of the log has no end',
    'src/store/audit-walk.ts',
    'scanned >= LINKS_PER_PAGE ||',
    'scanned < 0 ||',
    'api/audit',
  ],
]

export const AUDIT_MUTANTS: readonly Mutant[] = killedByTests(rows)
