/**
 * Lifecycle rules through the S3 API: what comes back, what is refused, and that both APIs mean the same rules.
 *
 * Actions: PutBucketLifecycleConfiguration, GetBucketLifecycleConfiguration, DeleteBucketLifecycle
 */
import t from 'tap'
import { S3World } from './s3-world.ts'
import { xmlText, type XmlNode } from '../../../src/api/s3/xml/write-xml.ts'
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'

const PATH = '/photos?lifecycle'
const document = (rules: string): string => `<LifecycleConfiguration>${rules}</LifecycleConfiguration>`
const EXPIRES = '<Expiration><Days>30</Days></Expiration>'
const ENABLED = '<Status>Enabled</Status>'

const set = (s3: S3World, rules: string, headers: Readonly<Record<string, string>> = {}) =>
  s3.call({ method: 'PUT', path: PATH, body: document(rules), headers })

/** The rules of the answer, spelled again without anything between elements. */
async function stored(s3: S3World): Promise<string> {
  const { xml } = await s3.call({ path: PATH })
  return (xml?.children ?? []).map((rule) => xmlText(tree(rule))).join('')
}

function tree(read: ReadElement): XmlNode & object {
  const children: readonly XmlNode[] = read.children.length > 0 ? read.children.map(tree) : [read.text]
  return { name: read.name, children: children.filter((child) => child !== '') }
}

t.test(
  'PutBucketLifecycleConfiguration and GetBucketLifecycleConfiguration give back every kind of rule',
  async (t) => {
    const s3 = await S3World.start(t)
    t.match(await s3.call({ path: PATH }), { status: 404, s3Code: 'NoSuchLifecycleConfiguration' })
    const many =
      '<And><Prefix>a/</Prefix><Tag><Key>x</Key><Value>1</Value></Tag><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>500</ObjectSizeLessThan></And>'
    const rules = [
      `<Rule><ID>a</ID><Filter><Prefix>tmp/</Prefix></Filter>${ENABLED}${EXPIRES}</Rule>`,
      `<Rule><ID>b</ID><Filter>${many}</Filter><Status>Disabled</Status><Expiration><Date>2027-01-31T00:00:00.000Z</Date></Expiration></Rule>`,
      `<Rule><ID>c</ID><Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>${ENABLED}<NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays><NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration></Rule>`,
      `<Rule><ID>d</ID><Filter><Prefix/></Filter>${ENABLED}<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>`,
    ].join('')
    const headers = { 'x-amz-transition-default-minimum-object-size': 'all_storage_classes_128K' }
    t.equal((await set(s3, rules, headers)).status, 200)
    t.equal(await stored(s3), rules)
    const older = `<Rule><Prefix>old/</Prefix>${ENABLED}${EXPIRES}</Rule>`
    t.equal((await set(s3, older)).status, 200)
    const shown = `<Rule><ID>rule-1</ID><Filter><Prefix>old/</Prefix></Filter>${ENABLED}${EXPIRES}</Rule>`
    t.equal(await stored(s3), shown, 'a prefix beside the filter, and no id')
    t.equal((await set(s3, `<Rule><ID>e</ID><Filter/>${ENABLED}${EXPIRES}</Rule>`)).status, 200)
    t.match(await stored(s3), '<Filter><Prefix/></Filter>')
  },
)

t.test('DeleteBucketLifecycle removes the rules, and that there were none is no error', async (t) => {
  const s3 = await S3World.start(t)
  await set(s3, `<Rule>${ENABLED}<Filter/>${EXPIRES}</Rule>`)
  for (const again of ['first', 'again'])
    t.equal((await s3.call({ method: 'DELETE', path: PATH })).status, 204, again)
  t.match(await s3.call({ path: PATH }), { status: 404, s3Code: 'NoSuchLifecycleConfiguration' })
  t.equal((await s3.call({ path: '/absent?lifecycle' })).s3Code, 'NoSuchBucket')
})

t.test('both APIs set and show the same rules', async (t) => {
  const s3 = await S3World.start(t)
  const { world } = s3
  const native = {
    path: '/api/v1/buckets/photos/lifecycle',
    token: await world.memory.bearer('acme', 'admin'),
  }
  await set(s3, `<Rule><ID>a</ID><Filter><Prefix>x</Prefix></Filter>${ENABLED}${EXPIRES}</Rule>`)
  const rules = [{ id: 'a', status: 'Enabled', filter: { prefix: 'x' }, expiration: { days: 30 } }]
  t.strictSame((await world.call(native)).json, { rules })
  const other = { ...rules[0], id: 'b', filter: { sizeLessThan: 9 } }
  t.equal((await world.call({ ...native, method: 'PUT', body: { rules: [other] } })).status, 200)
  t.equal(
    await stored(s3),
    `<Rule><ID>b</ID><Filter><ObjectSizeLessThan>9</ObjectSizeLessThan></Filter>${ENABLED}${EXPIRES}</Rule>`,
  )
})

t.test(
  'what is not done here is refused by its name, and what is no configuration as malformed',
  async (t) => {
    const s3 = await S3World.start(t)
    const transition = '<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>'
    const cases: readonly (readonly [string, string, string])[] = [
      [`<Rule>${ENABLED}<Filter/>${transition}</Rule>`, 'NotImplemented', 'Transition'],
      [
        `<Rule>${ENABLED}<Filter/><NoncurrentVersionTransition/></Rule>`,
        'NotImplemented',
        'NoncurrentVersionTransition',
      ],
      [`<Rule><Status>On</Status><Filter/>${EXPIRES}</Rule>`, 'MalformedXML', 'Status'],
      [`<Rule><Filter/>${EXPIRES}</Rule>`, 'MalformedXML', 'Status'],
      [`<Rule>${ENABLED}<Prefix/><Filter/>${EXPIRES}</Rule>`, 'MalformedXML', 'Prefix'],
      [
        `<Rule>${ENABLED}<Filter><Prefix>a</Prefix><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter>${EXPIRES}</Rule>`,
        'MalformedXML',
        'And',
      ],
      [`<Rule>${ENABLED}<Filter/>${EXPIRES}${EXPIRES}</Rule>`, 'MalformedXML', 'Expiration'],
      [`<Rule>${ENABLED}<Filter/><Expiration><Days>x</Days></Expiration></Rule>`, 'MalformedXML', 'Days'],
      [`<Rule>${ENABLED}<Filter/><NoncurrentVersionExpiration/></Rule>`, 'MalformedXML', 'NoncurrentDays'],
      [`<Rule>${ENABLED}<Filter/><Expiration><Days>0</Days></Expiration></Rule>`, 'InvalidArgument', 'days'],
      [`<Rule><ID>a</ID>${ENABLED}<Filter/>${EXPIRES}</Rule>`.repeat(2), 'InvalidArgument', 'earlier rule'],
      [`<Rule><ID>${'a'.repeat(256)}</ID>${ENABLED}<Filter/>${EXPIRES}</Rule>`, 'InvalidArgument', 'id'],
      [`<Rule>${ENABLED}<Filter/></Rule>`, 'InvalidRequest', 'does nothing'],
      [`<Rule>${ENABLED}<Filter><Tag><Key/><Value/></Tag></Filter>${EXPIRES}</Rule>`, 'InvalidTag', 'name'],
    ]
    for (const [rules, code, named] of cases) {
      const answer = await set(s3, rules)
      t.equal(answer.s3Code, code, rules)
      t.match(answer.xml?.textOf('Message'), named)
    }
    t.equal((await s3.call({ method: 'PUT', path: PATH })).s3Code, 'MalformedXML', 'without a body')
    t.equal((await s3.call({ path: PATH })).status, 404, 'nothing was set')
  },
)

t.test('GetObject and HeadObject say when the current version goes, and by which rule', async (t) => {
  const s3 = await S3World.start(t)
  for (const key of ['tmp/a', 'kept']) await s3.call({ method: 'PUT', path: `/photos/${key}`, body: 'hello' })
  const slow = `<Rule><ID>slow</ID><Filter/>${ENABLED}<Expiration><Date>2999-01-01T00:00:00Z</Date></Expiration></Rule>`
  const fast = `<Rule><ID>tmp 1</ID><Filter><Prefix>tmp/</Prefix></Filter>${ENABLED}<Expiration><Date>2998-12-31T00:00:00Z</Date></Expiration></Rule>`
  const shown = async (method: string, path: string) =>
    (await s3.call({ method, path })).headers['x-amz-expiration']
  t.equal(await shown('GET', '/photos/tmp/a'), undefined, 'without rules')
  await set(s3, slow + fast)
  for (const method of ['GET', 'HEAD']) {
    t.equal(
      await shown(method, '/photos/tmp/a'),
      'expiry-date="Mon, 31 Dec 2998 00:00:00 GMT", rule-id="tmp%201"',
    )
    t.match(await shown(method, '/photos/kept'), 'rule-id="slow"')
  }
  await set(s3, slow.replace('Enabled', 'Disabled'))
  t.equal(await shown('HEAD', '/photos/kept'), undefined)
})
