/**
 * A day of work on three real nodes, and queries of its audit log afterwards: who deleted this object, when,
 * through which key, from where. Over GET /audit at every node, over the command line, and after the log was tampered with.
 */
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { linkHash } from '../../src/state-machine/audit/audit-chain.ts'
import { openStore } from '../../src/store/open-store.ts'
import { decodeRow, encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { putRow, removeRow } from '../helpers/database-rows.ts'

/** On Linux all of 127/8 is loopback. */
const placeOf = (n: number): string => (process.platform === 'linux' ? `127.0.0.${n}` : '127.0.0.1')

type Json = Readonly<Record<string, unknown>>

interface Person {
  /** Id of the access key or the admin token. */
  readonly id: string
  readonly token: string
  /** Source address. */
  readonly from: string
}

/** An action of a person, as the test performed it. */
interface Act {
  readonly who: Person
  readonly nodeId: string
  readonly began: number
  readonly ended: number
  readonly status: number
  readonly requestId: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly json: Json
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function holdfast(token: string, ...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, HOLDFAST_ADMIN_TOKEN: token }
  const child = spawn(...withoutLoader(process.execPath, nodeProgram(), ...args), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (piece) => (output[stream] += String(piece)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })))
}

t.test('a day of work', { timeout: 1_800_000 }, async (t) => {
  const unreachable = holdfast('any', 'audit', 'query', '--admin-endpoint', 'http://127.0.0.1:1', '--json')
  const cluster = await ProcessCluster.start(t, 3)
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  const adminUrls = cluster.plan.map(({ adminUrl }) => adminUrl).join()
  const { ownerToken, ownerTokenId, tenantId } = cluster.setup

  const act = (who: Person, nodeId: string, line: string, body?: string | object): Promise<Act> => {
    const [method = '', path = ''] = line.split(' ')
    const { adminUrl, dataUrl } = cluster.node(nodeId)
    const url = `${path.startsWith('/admin/') ? adminUrl : dataUrl}${path}`
    const payload = typeof body === 'object' ? JSON.stringify(body) : (body ?? '')
    const headers = {
      authorization: `Bearer ${who.token}`,
      'content-length': Buffer.byteLength(payload),
      ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
    }
    const began = Date.now()
    return new Promise((resolve, reject) => {
      const asked = request(url, { method, headers, localAddress: who.from }, (answer) => {
        let text = ''
        answer.on('data', (piece) => (text += String(piece)))
        answer.once('end', () => {
          const json = text.startsWith('{') ? (JSON.parse(text) as Json) : {}
          const requestId = String(answer.headers['x-request-id'])
          const { statusCode: status = 0, headers } = answer
          resolve({ who, nodeId, began, ended: Date.now(), status, requestId, headers, json })
        })
      })
      asked.once('error', reject)
      asked.end(payload)
    })
  }
  const done = async (...asked: Parameters<typeof act>): Promise<Act> => {
    const answer = await act(...asked)
    t.ok(answer.status < 300, `${asked[2]}: ${answer.status} ${JSON.stringify(answer.json)}`)
    return answer
  }
  const owner: Person = { id: ownerTokenId, token: ownerToken, from: placeOf(9) }
  const hire = async (scopes: string, from: string): Promise<Person> => {
    const made = await done(owner, 'n2', `POST /admin/api/v1/tenants/${tenantId}/keys`, { scopes })
    const pair = { accessKeyId: made.json['accessKeyId'], secretKey: made.json['secretKey'] }
    const { json } = await done({ ...owner, token: '' }, 'n1', 'POST /api/v1/auth/token', pair)
    return { id: String(pair.accessKeyId), token: String(json['token']), from }
  }

  const writer = await hire('read,write', placeOf(3))
  const cleaner = await hire('read,delete', placeOf(4))
  const visitor = await hire('read', placeOf(5))
  const buckets = '/api/v1/buckets'
  await done(writer, 'n1', `POST ${buckets}`, { name: 'desk' })
  await done(writer, 'n1', `POST ${buckets}`, { name: 'files', versioning: 'Enabled' })
  for (const name of [
    'desk/objects/draft',
    'desk/objects/scrap-1',
    'desk/objects/scrap-2',
    'files/objects/note',
  ])
    await done(writer, 'n1', `PUT ${buckets}/${name}`, name)
  const first = await done(writer, 'n2', `PUT ${buckets}/files/objects/report`, 'first')
  await done(writer, 'n3', `PUT ${buckets}/files/objects/report`, 'second')
  const versionId = String(first.json['versionId'])

  const single = await done(cleaner, 'n2', `DELETE ${buckets}/desk/objects/draft`)
  const objects = [{ key: 'scrap-1' }, { key: 'scrap-2' }]
  const batch = await done(cleaner, 'n3', `POST ${buckets}/desk/objects:batchDelete`, { objects })
  const version = await done(cleaner, 'n1', `DELETE ${buckets}/files/objects/report?versionId=${versionId}`)
  const marker = await done(cleaner, 'n3', `DELETE ${buckets}/files/objects/note`)
  const bucket = await done(cleaner, 'n2', `DELETE ${buckets}/desk`)
  const denied = await act(visitor, 'n3', `DELETE ${buckets}/files/objects/report`)
  t.equal(denied.status, 403)
  const quota = await done(owner, 'n1', `PUT /admin/api/v1/tenants/${tenantId}/quota`, { maxObjects: 50 })
  const tenants = '/admin/api/v1/tenants'
  await done(owner, 'n1', `POST ${tenants}`, { id: 'former', name: 'Former' })
  const disabled = await done(owner, 'n2', `POST ${tenants}/former/disable`, { reason: 'has left' })
  const ending = { reason: 'asked for by letter', confirm: 'former' }
  const ended = await done(owner, 'n3', `POST ${tenants}/former/delete`, ending)
  const keyPath = `/admin/api/v1/tenants/${tenantId}/keys/${cleaner.id}`
  const revoked = await done(owner, 'n3', `POST ${keyPath}/revoke`, { reason: 'deleted too much' })

  /** The query, the act that the answer must name, and further members of the answer. */
  const questions: Readonly<Record<string, readonly [query: string, act: Act, expected: object]>> = {
    'who deleted desk/draft': [
      'bucket=desk&key=draft',
      single,
      { operation: 'deleteObject', bucket: 'desk', key: 'draft', details: { existed: true } },
    ],
    'who deleted desk/scrap-2, which was deleted with others': [
      'bucket=desk&key=scrap-2',
      batch,
      { operation: 'batchDeleteObjects', details: { deletedKeys: ['scrap-1', 'scrap-2'], refusedKeys: [] } },
    ],
    'who deleted the first version of files/report': [
      'bucket=files&key=report&outcome=success',
      version,
      { operation: 'deleteObject', key: 'report', versionId, details: { existed: true } },
    ],
    'who hid files/note behind a delete marker': [
      'bucket=files&key=note',
      marker,
      {
        operation: 'deleteObject',
        versionId: marker.headers['x-service-version-id'],
        details: { deleteMarker: true },
      },
    ],
    'who deleted the bucket desk': ['bucket=desk&operation=deleteBucket', bucket, { bucket: 'desk' }],
    'who tried to delete files/report and may not': [
      'bucket=files&outcome=denied',
      denied,
      { operation: 'deleteObject', status: 403, code: 'access_denied', outcome: 'denied' },
    ],
    'who set the quota': [
      'operation=setTenantQuota',
      quota,
      { tenantId, details: { maxBytes: null, maxObjects: 50, maxBuckets: null } },
    ],
    'who revoked the key that deleted them, and why': [
      `operation=revokeTenantKey&actor=${owner.id}`,
      revoked,
      { reason: 'deleted too much', details: { accessKeyId: cleaner.id } },
    ],
    'who disabled the tenant former, and why': [
      'tenant=former&operation=disableTenant',
      disabled,
      { tenantId: 'former', reason: 'has left', details: { accessKeyIds: [] } },
    ],
    'who deleted the tenant former, and why': [
      'tenant=former&operation=deleteTenant',
      ended,
      {
        tenantId: 'former',
        reason: 'asked for by letter',
        details: { operationId: ended.json['operationId'] },
      },
    ],
  }

  const records = async (nodeId: string, query: string): Promise<readonly Json[]> => {
    const { json } = await act(owner, nodeId, `GET /admin/api/v1/audit?since=1h&limit=1&${query}`)
    return json['records'] as readonly Json[]
  }
  const reported = async (nodeId: string, query: string, { requestId }: Act): Promise<Json> => {
    let newest: Json = {}
    await until(`${nodeId} tells of ${query}`, async () => {
      newest = (await records(nodeId, query))[0] ?? {}
      return newest['requestId'] === requestId
    })
    return newest
  }

  for (const [question, [query, asked, expected]] of Object.entries(questions))
    await t.test(`answers ${question} [admin.audit.who-deleted]`, async (t) => {
      const { who, nodeId, requestId, began, ended } = asked
      for (const node of nodes) {
        const record = await reported(node, query, asked)
        t.match(record, { actor: { id: who.id }, sourceIp: who.from, nodeId, requestId, ...expected })
        t.equal((record['actor'] as Json)['type'], who === owner ? 'adminToken' : 'accessKey')
        const time = Date.parse(String(record['time']))
        // A request that changed nothing gets its row when the answer has left, which may be after the client has it.
        const latest = asked === denied ? Date.now() : ended
        t.ok(began <= time && time <= latest, `${String(record['time'])} lies within the request`)
      }
    })

  await t.test('answers the same from the command line [admin.audit.command-line]', async (t) => {
    const about = ['audit', 'query', '--admin-endpoint', adminUrls, '--actor', cleaner.id]
    const [lines, rows] = await Promise.all([
      holdfast(ownerToken, ...about, '--bucket', 'desk', '--key', 'draft'),
      holdfast(ownerToken, ...about, '--json'),
    ])
    t.equal(lines.code, 0)
    t.match(
      lines.stdout,
      new RegExp(`^\\S+Z  204  accessKey ${cleaner.id}  deleteObject  desk/draft  ${cleaner.from}\\n$`),
    )
    const found = rows.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json)
    for (const [query, asked] of Object.values(questions))
      if (asked.who === cleaner)
        t.same(
          found.find(({ requestId }) => requestId === asked.requestId),
          await reported('n1', query, asked),
        )
  })

  await t.test('ends with 4 where no node can be reached [admin.audit.unreachable]', async (t) => {
    const { code, stdout, stderr } = await unreachable
    t.equal(code, 4)
    t.equal(stdout, '')
    t.match(JSON.parse(stderr), { error: { code: 'unreachable', hint: /--admin-endpoint/ } })
  })

  await t.test('detects a log that was tampered with [admin.audit.tampering]', async (t) => {
    const verify = (nodeId: string, ...more: readonly string[]) =>
      holdfast('', 'audit', 'verify', '--data', cluster.node(nodeId).dataDir, ...more)
    const whole = await verify('n3')
    t.equal(whole.code, 0, whole.stdout)
    const head = /^head (\S+)$/m.exec(whole.stdout)?.[1] ?? ''
    const { id } = await reported('n3', 'bucket=desk&key=draft', single)
    t.equal(await cluster.signal('n3', 'SIGTERM'), 0)
    await rewriteSegment(
      join(cluster.node('n3').dataDir, 'state'),
      Number(String(id).replace('au_', '')),
      (text) => text.replaceAll(cleaner.id, visitor.id),
    )
    cluster.startNode('n3')
    await cluster.allReady()
    t.match(
      await records('n3', 'bucket=desk&key=draft'),
      [{ actor: { id: visitor.id } }],
      'the forged row is returned',
    )
    const spoiled = await verify('n3')
    t.equal(spoiled.code, 1)
    t.match(spoiled.stdout, /NOT whole:\n {2}link \d+ does not follow from the one before it\n/)
    t.match(
      spoiled.stdout,
      /link \d+ is missing|the chain ends before link \d+/,
      'and the rows that were cut off',
    )
    t.equal((await verify('n1', '--head', head)).code, 0, 'at the other nodes it is whole')
  })
})

/** Tampers with knowledge of the formats: the row has its right hash and checksum, the end is cut off, and the state is closed cleanly. */
async function rewriteSegment(
  dir: string,
  sequence: number,
  change: (text: string) => string,
): Promise<void> {
  const { stateMachine } = openStore({ dir, logger: SILENT })
  await stateMachine.open(() => undefined)
  const { db } = stateMachine.handle.current
  const read = <R extends object>(key: RowKey<R>) => {
    const value = db.getSync(keyBytes(key))
    if (value === undefined) throw new Error(`there is no ${key}`)
    return decodeRow(key, value)
  }
  const key = auditRowKeys.auditLink(sequence)
  const link = read(key)
  const { hash: before } = read(auditRowKeys.auditLink(sequence - 1))
  const text = change(link.text)
  const written = { ...link, text, hash: linkHash((plain) => hash('sha256', plain), before, text) }
  await putRow(db, keyBytes(key), encodeRow(keyBytes(key), written))
  await removeRow(db, keyBytes(auditRowKeys.auditLink(read(auditRowKeys.auditHead()).next - 1)))
  await stateMachine.close()
}
