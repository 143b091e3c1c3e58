/**
 * Rules of a bucket between a form, the API and sentences; the reference of the API from its documents; lines for a shell without secrets.
 */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { aboutOnly, EMPTY_SEARCH } from '../../packages/console/src/forms/audit-search.ts'
import { SAVED_MAX, savedOf, savedWith } from '../../packages/console/src/forms/saved-searches.ts'
import { EMPTY_RULE, formOf, ruleOf } from '../../packages/console/src/forms/lifecycle-form.ts'
import {
  allSet,
  isPaused,
  replicationRuleOf,
  ruleFormOf,
  sentBy,
  targetFormOf,
  targetOf,
} from '../../packages/console/src/forms/replication-form.ts'
import { rulesWith, rulesWithout } from '../../packages/console/src/forms/rule-list.ts'
import { corsFormOf, corsRuleOf, webhooksWith } from '../../packages/console/src/forms/webhook-form.ts'
import { sumOf } from '../../packages/console/src/judge/placement-sum.ts'
import {
  type ApiDocument,
  exampleOf,
  fits,
  linesOf,
  operationsOf,
} from '../../packages/console/src/words/api-words.ts'
import {
  filterInWords,
  lifecycleInWords,
  replicationInWords,
} from '../../packages/console/src/words/rule-words.ts'

t.test('a lifecycle rule goes through its form and comes back as it was', async (t) => {
  const rule = {
    id: 'old',
    status: 'Disabled',
    filter: { prefix: 'logs/', tags: { kind: 'a=b' }, sizeGreaterThan: 0, sizeLessThan: 1024 },
    expiration: { date: '2100-01-01T00:00:00Z' },
    noncurrentVersionExpiration: { noncurrentDays: 30, newerNoncurrentVersions: 3 },
    abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
  } as const
  t.same(ruleOf(formOf(rule)), rule)
  const days = { status: 'Enabled', expiration: { days: 1 } } as const
  t.same(ruleOf(formOf(days)), days, 'without a name and a filter')
  const markers = { status: 'Enabled', expiration: { expiredObjectDeleteMarker: true } } as const
  t.same(ruleOf(formOf(markers)), markers)
})

t.test('what cannot be sent is refused with the name of the field', async (t) => {
  t.throws(() => ruleOf(EMPTY_RULE), /does nothing/)
  t.throws(() => ruleOf({ ...EMPTY_RULE, expiration: 'days' }), /Days: give a whole number/)
  t.throws(
    () => ruleOf({ ...EMPTY_RULE, expiration: 'days', days: '1.5' }),
    /Days: "1.5" is not a whole number/,
  )
  t.throws(() => ruleOf({ ...EMPTY_RULE, expiration: 'date', date: 'tomorrow' }), /Date: give a day/)
  t.throws(() => ruleOf({ ...EMPTY_RULE, kept: '3' }), /give also after how many days/)
  t.throws(() => ruleOf({ ...EMPTY_RULE, abortDays: '7', tags: 'kind' }), /"kind" is not a tag/)
  t.throws(() => ruleOf({ ...EMPTY_RULE, abortDays: '7', above: '-1' }), /Larger than \(bytes\): "-1"/)
})

t.test('rules are replaced and removed where they stand, and added at the end', async (t) => {
  t.same(rulesWith(['a', 'b', 'c'], 1, 'B'), ['a', 'B', 'c'])
  t.same(rulesWith(['a'], null, 'b'), ['a', 'b'])
  t.same(rulesWithout(['a', 'b', 'c'], 1), ['a', 'c'])
})

t.test('rules are stated in words', async (t) => {
  t.equal(filterInWords(), 'all objects')
  t.equal(
    filterInWords({ prefix: 'a/', tags: { x: '1', y: '2' }, sizeGreaterThan: 2048 }),
    'objects whose key begins with a/, with the tags x=1 and y=2, larger than 2.00 KiB',
  )
  t.same(
    lifecycleInWords({
      status: 'Enabled',
      expiration: { days: 1 },
      noncurrentVersionExpiration: { noncurrentDays: 30, newerNoncurrentVersions: 3 },
      abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
    }),
    [
      'Objects expire 1 day after they are stored.',
      'Noncurrent versions are removed after 30 days, except the newest 3 of each object.',
      'Unfinished uploads are aborted after 7 days.',
    ],
  )
  t.equal(replicationInWords({ filter: { tags: { a: 'b' } } }).split('; ')[1], 'deletions are not sent')
  t.match(replicationInWords({ status: 'Disabled' }), /all objects; delete markers are sent \(Disabled\)/)
})

t.test(
  'a replication keeps its secret where none is typed, and pauses without losing its rules',
  async (t) => {
    const target = { endpoint: 'https://there.example', accessKeyId: 'AK', region: 'eu' }
    t.same(targetOf(targetFormOf(target, 'copies')), target)
    t.same(targetOf({ ...targetFormOf(null, ''), endpoint: ' https://x ', secretKey: 's' }), {
      endpoint: 'https://x',
      accessKeyId: '',
      secretKey: 's',
    })
    const rule = { id: 'r', status: 'Enabled', filter: { prefix: 'a/' }, deletes: 'all' } as const
    t.same(replicationRuleOf(ruleFormOf(rule)), rule)
    t.same(allSet([rule], 'Disabled'), [{ ...rule, status: 'Disabled' }])
    t.same(allSet([], 'Disabled'), [{ status: 'Disabled' }], 'no rule sends everything')
    t.ok(isPaused([{ ...rule, status: 'Disabled' }]))
    t.notOk(isPaused([{ ...rule, status: 'Disabled' }, rule]))
    t.notOk(isPaused([]))
    t.equal(sentBy([]), 'everything')
    t.equal(sentBy([{ ...rule, status: 'Disabled' }]), 'nothing')
    t.equal(sentBy([rule]), 'named')
  },
)

t.test('a change of one webhook sends the others back by their ids', async (t) => {
  const hook = (id: string) =>
    ({
      id,
      kind: 'webhook',
      url: 'https://x.example/',
      events: ['object-created'],
      prefix: '',
      suffix: '',
      enabled: true,
      payloadFormat: 'native',
      hasSecret: true,
      suspended: false,
      suspensionReason: '',
      createdAt: '',
      updatedAt: '',
      pendingCount: 1,
      deadCount: 0,
      droppedCount: 0,
      droppedAt: null,
    }) as const
  const form = { ...hook('b'), events: ['object-removed'] }
  const sent = webhooksWith([hook('a'), hook('b')], 1, form)
  t.same(
    sent.map(({ id, events }) => [id, events]),
    [
      ['a', ['object-created']],
      ['b', ['object-removed']],
    ],
  )
  t.notMatch(JSON.stringify(sent[0]), /pendingCount|suspended/)
  t.same(
    webhooksWith([hook('a'), hook('b')], 0, null).map(({ id }) => id),
    ['b'],
  )
  t.throws(() => webhooksWith([], null, { ...form, events: [] }), /choose at least one/)
})

t.test('a CORS rule goes through its form', async (t) => {
  const rule = {
    id: 'pages',
    allowedOrigins: ['https://a.example', 'https://b.example'],
    allowedMethods: ['GET', 'PUT'],
    allowedHeaders: ['*'],
    exposeHeaders: ['etag'],
    maxAgeSeconds: 60,
  } as const
  t.same(corsRuleOf(corsFormOf(rule)), rule)
  t.throws(() => corsRuleOf({ ...corsFormOf(rule), origins: ' , ' }), /Origins/)
  t.throws(() => corsRuleOf({ ...corsFormOf(rule), maxAge: 'x' }), /seconds/)
})

t.test('the reference of the API', async (t) => {
  const read = (name: string): ApiDocument =>
    JSON.parse(readFileSync(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8'))
  const document = read('data')
  const all = [document, read('admin')].flatMap((one) =>
    operationsOf(one).map((operation) => ({ one, operation })),
  )
  const named = (id: string) => {
    const found = operationsOf(document).find(({ described }) => described.operationId === id)
    if (found === undefined) throw new Error(`There is no operation ${id}`)
    return found
  }

  await t.test('has every operation, with a call without a hole', async (t) => {
    t.ok(all.length > 100)
    for (const { operation } of all) {
      const line = exampleOf(operation, 'https://node.example')
      t.match(line, /^curl -fsS .*'https:\/\/node\.example\/[^']*'$/, operation.described.operationId)
      t.notMatch(line.split("'https://")[1] ?? '', /[{}]/, operation.described.operationId)
    }
  })

  await t.test('asks for heads alone, and sends bytes as they are', async (t) => {
    t.match(exampleOf(named('headObject'), ''), /^curl -fsS -I -H /)
    t.match(exampleOf(named('putObject'), ''), "-H 'Content-Type: application/octet-stream' -d 'hello' ")
    t.match(exampleOf(named('createBucket'), ''), `-H 'Content-Type: application/json' -d '{"`)
  })

  await t.test('finds by all words', async (t) => {
    t.ok(fits(named('setBucketLifecycle'), 'PUT lifecycle'))
    t.ok(fits(named('setBucketLifecycle'), ''))
    t.notOk(fits(named('setBucketLifecycle'), 'get lifecycle'))
  })

  await t.test('shows members below those they belong to', async (t) => {
    const schema = named('setBucketLifecycle').described.requestBody?.content?.['application/json']?.schema
    const lines = linesOf(document, schema ?? {}).map(({ depth, name, type }) => `${depth} ${name} ${type}`)
    t.ok(lines.includes('0 rules object[]'), lines.join('\n'))
    t.ok(lines.includes('1 status "Enabled" | "Disabled"'), lines.join('\n'))
    t.ok(lines.includes('2 days integer'), lines.join('\n'))
  })

  await t.test('a schema that contains itself ends', async (t) => {
    const self: ApiDocument = {
      info: { title: '', version: '' },
      paths: {},
      components: { schemas: { Tree: { properties: { inner: { $ref: '#/components/schemas/Tree' } } } } },
    }
    t.equal(linesOf(self, { $ref: '#/components/schemas/Tree' }).length, 6)
  })
})

t.test('copies of several answers add up, and shares are those of the sum', async (t) => {
  const node = (nodeId: string, size: number, weightShare: number) => ({
    nodeId,
    zone: nodeId,
    weight: 1,
    weightShare,
    copies: 1,
    bytes: size,
    bytesShare: 0,
    owed: { copies: 1, bytes: 2 },
    disks: null,
  })
  const page = (a: number, b: number, isTruncated: boolean) => ({
    chunks: 10,
    bytes: 100,
    held: { copies: 2, bytes: a + b },
    owed: { copies: 2, bytes: 4 },
    singleCopies: 1,
    singleZones: 0,
    nodes: [node('n1', a, 0.5), node('n2', b, 0.5), node('n3', 0, 0)],
    zones: [{ zone: 'n1', weightShare: 0.5, copies: 1, bytes: a, bytesShare: 0 }],
    skew: null,
    isTruncated,
  })
  const sum = sumOf([page(10, 90, true), page(50, 50, true)])
  t.match(sum, { chunks: 20, held: { copies: 4, bytes: 200 }, singleCopies: 2, isWhole: false })
  t.match(sum.nodes[0], { bytes: 60, bytesShare: 0.3, copies: 2, owed: { copies: 2, bytes: 4 } })
  t.match(sum.zones[0], { bytes: 60, bytesShare: 0.3 })
  t.same(
    sum.skew,
    { most: { nodeId: 'n2', ratio: 1.4 }, least: { nodeId: 'n1', ratio: 0.6 } },
    'a node that takes no copies is no part of it',
  )
  t.equal(sumOf([page(0, 0, true), page(0, 0, false)]).skew, null, 'nothing is held')
  t.ok(sumOf([page(1, 1, false)]).isWhole)
})

t.test('saved searches of the audit log', async (t) => {
  const saved = { name: 'deletions', search: aboutOnly({ operation: 'deleteObject' }) }
  t.same(savedOf(JSON.stringify([saved])), [saved], 'come back as they were')
  for (const text of [null, '', '{', '{"a":1}', 'null', '[1,null,{"name":""},{"name":7}]'])
    t.same(savedOf(text), [], `${text} is none`)
  const strange = {
    name: 'x',
    search: { since: '<b>', outcome: 'all', filters: { tenant: 7, other: 'y' } },
  }
  t.same(savedOf(JSON.stringify([strange])), [{ name: 'x', search: EMPTY_SEARCH }])
  t.same(savedWith([saved], { name: ' deletions ', search: EMPTY_SEARCH }), [
    { name: 'deletions', search: EMPTY_SEARCH },
  ])
  t.same(savedWith([saved], { name: ' ', search: EMPTY_SEARCH }), [saved], 'it needs a name')
  const many = Array.from({ length: 30 }, (_, n) => ({ name: `${n}`, search: EMPTY_SEARCH }))
  t.equal(savedWith(many, saved).length, SAVED_MAX)
  t.equal(savedOf(JSON.stringify(many)).length, SAVED_MAX)
})

/** What the rules of requests need of a browser. */
const page = { origin: 'https://node.example', hash: '' }
let notifyPage = (): void => undefined

/** The module is loaded once: the first call decides what it finds. */
function requestRules() {
  Object.defineProperty(globalThis, 'location', { value: page, configurable: true })
  Object.defineProperty(globalThis, 'addEventListener', {
    value: (_: 'hashchange', listener: () => void) => (notifyPage = listener),
    configurable: true,
  })
  return import('../../packages/console/src/state/requests.ts')
}

t.test('a request belongs to the screen that is shown, not to an address that is ahead of it', async (t) => {
  const { followed, requests } = await requestRules()
  const ask = followed('')
  const { fetch } = globalThis
  globalThis.fetch = async () => new Response()
  t.teardown(() => (globalThis.fetch = fetch))
  page.hash = '#/objects'
  notifyPage()
  await ask('https://node.example/one')
  page.hash = '#/objects/letters'
  await ask('https://node.example/two')
  notifyPage()
  await ask('https://node.example/three')
  t.same(
    requests.value.map(({ path, screen }) => [path, screen]),
    [
      ['/three', '#/objects/letters'],
      ['/two', '#/objects'],
      ['/one', '#/objects'],
    ],
  )
})

t.test('a line for a shell has the name of a secret in its place, wherever it stands', async (t) => {
  const { curlOf, requestOf } = await requestRules()
  const lineOf = (path: string, body: object): string =>
    curlOf(requestOf(`https://node.example${path}`, { method: 'PUT', body: JSON.stringify(body) }))
  const line = lineOf('/x', { target: { secretKey: 'a"b\\', accessKeyId: 'AK' }, rules: [] })
  t.match(line, /"secretKey":"SECRETKEY","accessKeyId":"AK"/)
  t.notMatch(line, /a\\?"b/)
  t.match(
    lineOf('/x', { configs: [{ signingSecret: 'whsec', url: 'u' }] }),
    /"signingSecret":"SIGNINGSECRET"/,
  )
  t.notMatch(lineOf('/console/data/api/v1/auth/token', { secretKey: 'x' }), / -d /)
  t.match(lineOf('/x', { name: "it's" }), /'\{"name":"it'\\''s"\}'/)
})

t.test('a line has the headers that decide, FILE in the place of bytes, and no token', async (t) => {
  const { curlOf, requestOf } = await requestRules()
  const headers = {
    authorization: 'Bearer secret-1',
    'x-service-customer-key': 'secret-2',
    'x-service-checksum-sha256': 'digest',
    'if-match': '"e"',
    'x-service-tagging': 'a=b',
  }
  const sent = { method: 'PUT', body: new TextEncoder().encode('bytes'), headers }
  const line = curlOf(requestOf('https://node.example/x', sent))
  t.equal(
    line,
    `curl -fsS -X PUT -H "Authorization: Bearer $TOKEN" -H 'if-match: "e"' -H 'x-service-tagging: a=b' -T FILE 'https://node.example/x'`,
  )
})

/** What may take a client from the session, and where the lines of its requests are. */
const SENDERS: Readonly<Record<string, string>> = {
  'parts/access.ts': 'the dialogs and buttons that it is passed to',
  'state/audit-data.ts': 'screens/audit.tsx',
  'state/chain-check.ts': 'screens/chain-card.tsx',
  'state/uploads.ts': 'screens/bucket.tsx',
  'state/bucket-data.ts': 'screens/requests.tsx: it reads',
  'state/live.ts': 'no line: the page waits for changes',
  'state/resource.ts': 'screens/requests.tsx: it reads',
}

t.test('every request is sent by a part that shows its line', (t) => {
  const root = new URL('../../packages/console/src/', import.meta.url)
  const senders = new Set<string>()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name)) continue
    const text = readFileSync(new URL(name, root), 'utf8')
    if (/\b(?:client|keySession)\.(?:peek\(\)|value)(?!\s*[!=]== null)(?!\s*=[^=])/.test(text))
      senders.add(name)
    if (!name.startsWith('screens/')) continue
    t.notMatch(text, /\bBY_(?:TOKEN|KEY)\.api\b/, `${name} passes a way to the API on`)
    if (/\buseAttempt\(/.test(text))
      t.match(text, /<(?:CurlLine|LineButton)\b/, `${name} sends, and shows the line`)
  }
  // It shows which key is used.
  t.ok(senders.delete('screens/objects.tsx'))
  t.same(
    [...senders].toSorted(),
    Object.keys(SENDERS).toSorted(),
    'a new sender shows the lines of its requests',
  )
  for (const place of Object.values(SENDERS)) {
    const [, screen] = /^(screens\/\S+\.tsx)$/.exec(place) ?? []
    if (screen !== undefined) t.match(readFileSync(new URL(screen, root), 'utf8'), /<LineButton\b/, screen)
  }
  t.end()
})
