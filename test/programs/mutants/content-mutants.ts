/**
 * Bugs in the bytes and parts of objects as the S3 API needs them: MD5s, checksums of parts, where parts lie.
 *
 * `CT..`. Each row names the quickest test that notices.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const rows: readonly TestedRow[] = [
  [
    'CT1',
    'the memory of a chunk is used again while a thread still hashes it',
    'src/content/ingest.ts',
    'await Promise.allSettled([sealer.nameOf(keys, frames), this.#md5?.update(frames)])',
    "[await sealer.nameOf(keys, frames).then((value) => ({ status: 'fulfilled', value })), { status: void this.#md5?.update(frames) }]",
    'content/md5',
  ],
  [
    'CT2',
    'the bodies of a thread are hashed as one',
    'src/content/md5-worker.ts',
    'bodies.get(body)',
    'bodies.get(1)',
    'content/md5',
  ],
  [
    'CT3',
    'a body that was given up is kept by its thread',
    'src/content/ingest.ts',
    '      this.#md5?.end()\n',
    '',
    'content/md5',
  ],
  [
    'CT4',
    'a claimed MD5 is not compared',
    'src/content/body-reader.ts',
    'md5 === null ? []',
    'md5 !== null ? []',
    'content/md5',
  ],
  [
    'CT5',
    'one part with an MD5 makes the etag of the whole one of S3',
    'src/content/etag.ts',
    'etags.every(',
    'etags.some(',
    'content/etag',
  ],
  [
    'CT6',
    'a composite checksum does not say of how many parts it is',
    'src/content/composite-checksum.ts',
    '-${parts.length}`',
    '`',
    'content/composite-checksum',
  ],
  [
    'CT7',
    'a copy forgets the checksums of parts',
    'src/state-machine/bodies/bodies.ts',
    'return { ...part, partId, body',
    'return { partId, size: part.size, body',
    'state-machine/described-parts',
  ],
  [
    'CT8',
    'parts are described at level 3, which older members do not do',
    'src/state-machine/objects/complete-upload.ts',
    'featureLevel < DESCRIBES_PARTS_LEVEL',
    'featureLevel + 1 < DESCRIBES_PARTS_LEVEL',
    'state-machine/described-parts',
  ],
  [
    'CT9',
    'the starts of pages are one page off',
    'src/state-machine/bodies/bodies.ts',
    'if (page > 0) pageStarts.push(bytes)',
    'pageStarts.push(bytes)',
    'state-machine/described-parts',
  ],
  [
    'CT10',
    'signed URLs, and with them stored pages, are open in the origin of the console',
    'src/api/server/console-data.ts',
    "auth === 'bearer' || auth === 'credentials'",
    "auth === 'bearer' || auth === 'credentials' || auth === 'signedUrl'",
    'api/console-data',
  ],
  [
    'CT11',
    'access keys can be used at the admin listener where that is switched off',
    'src/api/server/admin-server.ts',
    'listeners.consoleData',
    "listeners.admin !== ''",
    'api/console-data',
  ],
  [
    'CT12',
    'a secret that was typed stands in the line for a shell',
    'packages/console/src/state/requests.ts',
    'withoutSecrets(textOf(body))',
    'textOf(body)',
    'console/rules',
  ],
  [
    'CT13',
    'a change of one webhook removes the others',
    'packages/console/src/forms/webhook-form.ts',
    '(n === at ? form : webhookFormOf(hook))',
    '(n === at ? form : null)',
    'console/rules',
  ],
  [
    'CT14',
    'the pause of a replication without rules keeps sending everything',
    'packages/console/src/forms/replication-form.ts',
    'rules.length === 0 ? [{ status }] : rules.map',
    'rules.map',
    'console/rules',
  ],
  [
    'CT15',
    'memory of sealed bytes that is released twice is given to two chunks at a time',
    'src/content/sealing-pool.ts',
    'if (!this.#inUse.delete(sealed) || !',
    'if (!',
    'content/sealing-pool',
  ],
  [
    'CT16',
    'memory of sealed bytes is used again while it is in use',
    'src/content/sealing-pool.ts',
    'this.#spares.pop() ?? new',
    'this.#spares.at(-1) ?? new',
    'content/sealing-pool',
  ],
]

export const CONTENT_MUTANTS: readonly Mutant[] = killedByTests(rows)
