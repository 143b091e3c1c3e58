/**
 * Bugs of the log-in to the console: what of an identity provider is believed, who may use a session, when it ends.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const SESSIONS = 'src/state-machine/tenants/admin-sessions.ts'
const PROVIDER = 'src/access/oidc/provider.ts'
const ENTRIES = 'state-machine/admin-sessions'
const API = 'api/log-in'

const rows: readonly TestedRow[] = [
  [
    'LI1',
    'the secret before a renewal counts forever',
    SESSIONS,
    'return session?.former?.sha256 === hash && time < session.former.until',
    'return session?.former?.sha256 === hash',
    ENTRIES,
  ],
  [
    'LI2',
    'a renewal takes a session past its end',
    SESSIONS,
    'Math.min(time + session.idleMs, session.endsAt)',
    'time + session.idleMs',
    ENTRIES,
  ],
  [
    'LI3',
    'a log-out everywhere ends the sessions of other people',
    SESSIONS,
    'one.userId === userId && (tokenId === null',
    "one.userId !== '' && (tokenId === null",
    ENTRIES,
  ],
  [
    'LI4',
    'a person approves in another session what the person asked for',
    'src/state-machine/approvals/approvals.ts',
    'userId !== undefined && userId === present.requestedByUser',
    "userId === ''",
    ENTRIES,
  ],
  [
    'LI5',
    'an ID token that was made for another client is believed',
    PROVIDER,
    'azp !== undefined && azp !== this.#parts.settings.clientId',
    "azp === ''",
    'access/oidc/provider',
  ],
  [
    'LI6',
    'an ID token from the future is believed',
    PROVIDER,
    'iat * 1000 > this.#parts.now() + CLOCK_TOLERANCE_SECONDS * 1000',
    'iat < 0',
    'access/oidc/provider',
  ],
  [
    'LI7',
    'the last rule that fits decides, and not the first',
    'src/access/oidc/person.ts',
    'rules.find((',
    'rules.findLast((',
    'access/oidc/person',
  ],
  [
    'LI8',
    'a session counts without the header of the console',
    'src/api/sessions/own-page.ts',
    "headers[CONSOLE_HEADER] !== '1'",
    "headers[CONSOLE_HEADER] === '2'",
    API,
  ],
  [
    'LI9',
    'a session is a bearer token',
    'src/access/admin-access.ts',
    '!looksLikeAdminToken(token)',
    '!looksLikeAdminToken(token) && !looksLikeSessionSecret(token)',
    API,
  ],
  [
    'LI10',
    'what a browser keeps of a log-in counts forever',
    'src/access/oidc/pending-cookie.ts',
    'now >= exp',
    'exp === 0',
    API,
  ],
]

export const LOG_IN_MUTANTS: readonly Mutant[] = killedByTests(rows)
