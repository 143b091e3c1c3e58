/**
 * Browser forms: the file is what was sent however the bytes are cut, and broken forms are refused before they count.
 */
import fc from 'fast-check'
import t from 'tap'
import { FormFault } from '../../../../src/api/s3/form/form-fault.ts'
import { boundaryOf, type Form, readForm } from '../../../../src/api/s3/form/multipart-form.ts'
import { inPieces } from '../xml/xml-pieces.ts'
import { BOUNDARY, formOf } from './sample-form.ts'

const isMeant = (name: string): boolean => name === 'key'
const read = (body: string | Uint8Array, size = 64 * 1024): Promise<Form> =>
  readForm(inPieces(body, size), { boundary: BOUNDARY, isMeant })
async function collected({ file }: Form): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of file) pieces.push(piece)
  return Buffer.concat(pieces)
}
const whole = async (body: string | Uint8Array) => collected(await read(body))

t.test('readForm', async (t) => {
  t.test('reads fields, the name of the file and its bytes', async (t) => {
    const body = formOf(
      [
        ['Key', 'a/${filename}'],
        ['x', ''],
      ],
      { fileName: 'é "a".txt'.replaceAll('"', '\\"'), bytes: 'hello' },
    )
    const form = await read(body)
    t.same(
      [...form.fields],
      [
        ['key', 'a/${filename}'],
        ['x', ''],
      ],
    )
    t.equal(form.fileName, 'é "a".txt')
    t.equal((await collected(form)).toString(), 'hello')
  })

  t.test('keeps the file whole, whatever it holds and wherever the body is cut', async (t) => {
    const near = [`\r\n--${BOUNDARY.slice(0, -1)}`, `--${BOUNDARY}`, '\r\n--', '\r\n', '\r', '-']
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(...near).map((text) => Buffer.from(text)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(bytes, { maxLength: 8 }),
        fc.integer({ min: 1, max: 90 }),
        async (parts, size) => {
          const file = Buffer.concat(parts)
          if (file.includes(`\r\n--${BOUNDARY}`)) return
          const form = await read(formOf([['key', 'a']], { bytes: file }), size)
          t.ok((await collected(form)).equals(file))
          t.equal(form.fields.get('key'), 'a')
        },
      ),
      { seed: 19, numRuns: 300 },
    )
  })

  t.test('reads names of files as browsers and libraries write them', async (t) => {
    const named = async (parameters: string) => {
      const body = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"${parameters}\r\nContent-Type: text/plain\r\n\r\n\r\n--${BOUNDARY}--`
      return (await read(body)).fileName
    }
    t.equal(await named(''), '')
    t.equal(await named('; filename=""'), '')
    t.equal(await named('; filename=plain.txt'), 'plain.txt')
    t.equal(await named(String.raw`; filename="C:\docs\a;b.txt"`), String.raw`C:\docs\a;b.txt`)
    t.equal(await named("; filename*=UTF-8''%C3%A9.txt"), 'é.txt')
    await t.rejects(named("; filename*=UTF-8''%E9"), { code: 'MalformedPOSTRequest' })
    await t.rejects(named('; filename=a; filename=b'), { code: 'MalformedPOSTRequest' })
  })

  t.test(
    'passes over a button behind the file, and refuses a field that means something there',
    async (t) => {
      const file = { bytes: 'hello' }
      t.equal((await whole(formOf([], file, [['submit', 'Upload']]))).toString(), 'hello')
      await t.rejects(whole(formOf([], file, [['KEY', 'a']])), { code: 'InvalidArgument', message: /"key"/ })
      await t.rejects(whole(formOf([], file, [['file', 'a']])), { code: 'InvalidArgument' })
      await t.rejects(whole(formOf([], file, [['submit', 'x'.repeat(4000)]])), {
        code: 'MaxPostPreDataLengthExceededError',
      })
    },
  )

  const part = (head: string, body = 'x') => `--${BOUNDARY}\r\n${head}\r\n\r\n${body}\r\n`
  const file = part('Content-Disposition: form-data; name="file"')
  const end = `--${BOUNDARY}--`
  const field = 'Content-Disposition: form-data; name="a"'
  const broken: Readonly<Record<string, string | Uint8Array>> = {
    nothing: '',
    'no boundary at all': 'hello',
    'something before the first boundary': `hello\r\n${file}${end}`,
    'a file that does not end': file,
    'a file cut inside of its last boundary': `${file}${end.slice(0, -1)}`,
    'something behind the last boundary': `${file}${end}\r\nhello`,
    'another form behind the last boundary': `${file}${end}\r\n${file}${end}`,
    'a boundary that another text follows': `${file.slice(0, -2)}\r\n--${BOUNDARY}x`,
    'a field without a name': `${part('Content-Disposition: form-data')}${file}${end}`,
    'a field with an empty name': `${part('Content-Disposition: form-data; name=""')}${file}${end}`,
    'a field without Content-Disposition': `${part('Content-Type: text/plain')}${file}${end}`,
    'an attachment': `${part('Content-Disposition: attachment; name="a"')}${file}${end}`,
    'two names': `${part(`${field}; name="b"`)}${file}${end}`,
    'two Content-Dispositions': `${part(`${field}\r\n${field}`)}${file}${end}`,
    'a header that is none': `${part(`${field}\r\nhello`)}${file}${end}`,
    'a folded header': `${part(`${field}\r\n ; filename="b"`)}${file}${end}`,
    'a field in base64': `${part(`${field}\r\nContent-Transfer-Encoding: base64`)}${file}${end}`,
    'a field that is not UTF-8': Buffer.from(`${part(field, '\xff')}${file}${end}`, 'latin1'),
  }
  for (const [what, body] of Object.entries(broken))
    t.test(`refuses ${what}`, async (t) => {
      await t.rejects(whole(body), { name: 'FormFault', code: 'MalformedPOSTRequest' })
    })

  t.test('reads or refuses whatever comes, and does nothing else', async (t) => {
    const bits = fc.constantFrom(
      `--${BOUNDARY}`,
      '\r\n',
      '--',
      'Content-Disposition: form-data; name="file"',
      "Content-Disposition: form-data; name=a; filename*=utf-8''%",
      ';"\\',
      'x',
    )
    const body = fc
      .array(fc.oneof(bits, fc.string({ maxLength: 3 })), { maxLength: 14 })
      .map((list) => list.join(''))
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 40 }), async (text, size) => {
        try {
          await collected(await read(`--${BOUNDARY}\r\n${text}`, size))
        } catch (error) {
          t.ok(error instanceof FormFault, String(error))
        }
      }),
      { seed: 19, numRuns: 500 },
    )
  })

  t.test('refuses a form without a file, and a field twice', async (t) => {
    await t.rejects(whole(formOf([['a', 'b']], null)), { code: 'InvalidArgument', message: /has none/ })
    await t.rejects(
      whole(
        formOf(
          [
            ['a', 'b'],
            ['A', 'c'],
          ],
          { bytes: '' },
        ),
      ),
      { code: 'InvalidArgument', message: /twice/ },
    )
  })

  t.test('reads at most 20 KiB before the file, and stops there', async (t) => {
    const fits = formOf([['a', 'x'.repeat(20_000)]], { bytes: 'y'.repeat(100_000) })
    t.equal((await whole(fits)).length, 100_000)
    for (const piece of [
      'x',
      `--${BOUNDARY}\r\n`,
      `Content-Disposition: form-data; name="${'"\\'.repeat(20)}\r\n`,
    ]) {
      let given = 0
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`)
        for (; given < 1024 ** 2; given += 1000) yield Buffer.from(piece.repeat(1000)).subarray(0, 1000)
      }
      const failed = t.rejects(readForm(endless(), { boundary: BOUNDARY, isMeant }), { name: 'FormFault' })
      await failed
      t.ok(given <= 22_000, `${given} bytes of ${piece.slice(0, 20)}`)
    }
    const many = Array.from({ length: 1000 }, (_, at) => [`f${at}`, ''] as const)
    await t.rejects(whole(formOf(many, { bytes: '' })), { code: 'MaxPostPreDataLengthExceededError' })
  })

  t.test('leaves its source open', async (t) => {
    let closed = false
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('hello, I am no form')
        yield Buffer.from(`\r\n--${BOUNDARY}`)
      } finally {
        closed = true
      }
    }
    await t.rejects(readForm(source(), { boundary: BOUNDARY, isMeant }))
    t.notOk(closed)
  })

  t.test('holds no bytes of a piece when it asks for the next', async (t) => {
    const body = formOf([['key', 'abcdefgh']], { bytes: 'hello'.repeat(40) })
    async function* taken(): AsyncGenerator<Uint8Array> {
      for await (const piece of inPieces(body, 17)) {
        const own = Buffer.from(piece)
        yield own
        own.fill(0)
      }
    }
    const form = await readForm(taken(), { boundary: BOUNDARY, isMeant })
    t.equal(form.fields.get('key'), 'abcdefgh')
    const pieces: string[] = []
    for await (const piece of form.file) pieces.push(Buffer.from(piece).toString())
    t.equal(pieces.join(''), 'hello'.repeat(40))
  })
})

t.test('boundaryOf', async (t) => {
  t.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  t.equal(boundaryOf('multipart/form-data; charset=utf-8; Boundary="a b c"'), 'a b c')
  for (const text of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a "',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
    'multipart/form-data; boundary="a\r\n"',
    'multipart/form-data; boundary=a; boundary=b',
  ])
    t.throws(() => boundaryOf(text), { code: 'MalformedPOSTRequest' }, text)
})
