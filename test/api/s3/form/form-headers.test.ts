/**
 * The fields of a form become the headers of a PUT; those of its signature and foreign ones do not.
 */
import t from 'tap'
import { expandedFields, formHeaders, isMeantField } from '../../../../src/api/s3/form/form-headers.ts'

const headers = (fields: Readonly<Record<string, string>>) => formHeaders(new Map(Object.entries(fields)))

t.test('formHeaders', async (t) => {
  t.test('keeps what PutObject reads, and nothing of signatures and buttons', async (t) => {
    t.same(
      await headers({
        key: 'a',
        bucket: 'b',
        policy: 'c',
        acl: 'private',
        'content-type': 'image/png',
        'cache-control': ' no-store ',
        'x-amz-meta-a': 'é',
        'x-amz-storage-class': 'STANDARD',
        'x-amz-algorithm': 'd',
        'x-amz-credential': 'e',
        'x-amz-date': 'f',
        'x-amz-signature': 'g',
        'x-ignore-a': 'h',
        submit: 'i',
        authorization: 'j',
        host: 'k',
      }),
      {
        'x-amz-acl': 'private',
        'content-type': 'image/png',
        'cache-control': 'no-store',
        'x-amz-meta-a': Buffer.from('é').toString('latin1'),
        'x-amz-storage-class': 'STANDARD',
      },
    )
  })

  t.test('turns the document of tags into a query', async (t) => {
    const tag = (key: string, value: string) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`
    const tagging = `<Tagging><TagSet>${tag('a &amp; b', 'c=d')}${tag('e', '')}</TagSet></Tagging>`
    t.same(await headers({ tagging }), { 'x-amz-tagging': 'a+%26+b=c%3Dd&e=' })
    for (const document of ['a=b', '<Tagging/>', '<Tagging><TagSet><Tag/></TagSet></Tagging>'])
      await t.rejects(headers({ tagging: document }), { name: 'MalformedXmlError' }, document)
  })

  t.test('refuses texts and names that no header can have', async (t) => {
    for (const fields of [{ 'x-amz-meta-a': 'b\r\nc: d' }, { acl: 'a\u0000' }, { 'x-amz-meta-a b': 'c' }])
      await t.rejects(headers(fields), { name: 'FormFault', code: 'InvalidArgument' })
  })
})

t.test('expandedFields puts the bare name of the file everywhere but in what is signed', async (t) => {
  const fields = new Map([
    ['key', 'user/${filename}-${filename}'],
    ['x-amz-meta-name', '${filename}'],
    ['policy', '${filename}'],
    ['x-amz-signature', '${filename}'],
  ])
  for (const [fileName, bare] of [
    ['a.txt', 'a.txt'],
    ['/docs/me/a.txt', 'a.txt'],
    [String.raw`C:\docs\a.txt`, 'a.txt'],
    ['', ''],
    ['$&${filename}', '$&${filename}'],
  ] as const)
    t.same(
      [...expandedFields(fields, fileName).values()],
      [`user/${bare}-${bare}`, bare, '${filename}', '${filename}'],
      fileName,
    )
})

t.test('isMeantField knows the fields that S3 looks at', async (t) => {
  for (const name of [
    'key',
    'policy',
    'tagging',
    'content-type',
    'x-amz-meta-a',
    'if-none-match',
    'redirect',
  ])
    t.ok(isMeantField(name), name)
  for (const name of ['submit', 'x-ignore-a', 'name']) t.notOk(isMeantField(name), name)
})
