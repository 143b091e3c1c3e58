/**
 * Bugs in what of a backup target is believed, what a restore does with it, and what schedules start.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const READER = 'src/backup/read/backup-reader.ts'
const FILES = 'src/backup/run/sealed-files.ts'
const MANIFEST = 'src/backup/format/manifest.ts'
const SCHEDULES = 'src/workers/backup-schedules.ts'
const DAMAGED = 'backup/damaged-backups'
const STARTED = 'workers/backup-schedules'

const rows: readonly TestedRow[] = [
  [
    'BR1',
    'a chunk with other bytes of its size counts as whole',
    READER,
    "sealed.length === entry.sealedSize && hash('sha256', sealed, 'hex') === entry.checksum",
    "sealed.length === entry.sealedSize || hash('sha256', sealed, 'hex') === entry.checksum",
    DAMAGED,
  ],
  [
    'BR2',
    'a manifest that was changed counts',
    MANIFEST,
    'given.length !== right.length || !timingSafeEqual(given, right)',
    'given.length !== right.length && !timingSafeEqual(given, right)',
    DAMAGED,
  ],
  [
    'BR3',
    'a manifest may have anything behind its seal',
    MANIFEST,
    "if (rest.join('\\n') !== '')",
    'if (rest.length > 1_000)',
    DAMAGED,
  ],
  [
    'BR4',
    'a target decides how much of a file is held in memory',
    FILES,
    'if (bytes > bytesMax)',
    'if (bytes > bytesMax + 2 ** 20)',
    DAMAGED,
  ],
  [
    'BR5',
    'a chunk that the listing does not have counts as restored',
    'src/backup/restore/restore.ts',
    'if (held.get(name) !== entry.sealedSize)',
    'if (held.size < 0)',
    DAMAGED,
  ],
  [
    'BR6',
    'a scheduled backup leaves no row in the audit log',
    SCHEDULES,
    "propose({ type: 'startScheduledBackup', ...asked }, origin)",
    "propose({ type: 'startScheduledBackup', ...asked }, origin.key === '' ? origin : undefined)",
    STARTED,
  ],
  [
    'BR7',
    'a scheduled backup is asked for each second while another operation is in the way',
    SCHEDULES,
    '    if (present !== undefined) {',
    "    if (present !== undefined && present.operationId === '') {",
    STARTED,
  ],
]

export const BACKUP_READING_MUTANTS: readonly Mutant[] = killedByTests(rows)
