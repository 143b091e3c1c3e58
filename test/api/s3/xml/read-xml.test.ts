/**
 * XML that comes in: plain trees are read, and hostile ones stop at the first bound, while they arrive.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { MalformedXmlError, readXml, type XmlBounds } from '../../../../src/api/s3/xml/read-xml.ts'
import { element, xmlDocument } from '../../../../src/api/s3/xml/write-xml.ts'
import { inPieces } from './xml-pieces.ts'

const BOUNDS: XmlBounds = { bytesMax: 64 * 1024, elementsMax: 100, depthMax: 5 }
const read = (body: string | Uint8Array, bounds = BOUNDS) => readXml(inPieces(body), bounds)

t.test('readXml', async (t) => {
  t.test('reads elements with and without the namespace of S3, and with a prefix', async (t) => {
    for (const [start, end] of [
      ['<Delete>', '</Delete>'],
      ['<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">', '</Delete>'],
      ['<s3:Delete xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/">', '</s3:Delete>'],
    ] as const) {
      const root = await read(`${start}<Quiet>true</Quiet>${end}`)
      t.equal(root.name, 'Delete')
      t.equal(root.textOf('Quiet'), 'true')
    }
  })

  t.test('joins text, CDATA and references, and reads past comments', async (t) => {
    const root = await read(
      '<!-- a --><Key>a&amp;<![CDATA[<b>]]><!-- c -->&#x64;&#13;&quot;é</Key><!-- e -->',
    )
    t.equal(root.text, 'a&<b>d\r"é')
  })

  t.test('reads UTF-8 that is cut anywhere, with a byte order mark', async (t) => {
    const body = '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<Key>é\u{1f600}&lt;</Key>'
    for (const size of [1, 2, 3, 5, 7]) {
      const root = await readXml(inPieces(body, size), BOUNDS)
      t.equal(root.text, 'é\u{1f600}<')
    }
  })

  t.test('gives children by name, and refuses two where one is meant', async (t) => {
    const root = await read('<Tagging><Tag>1</Tag><Other/><Tag>2</Tag></Tagging>')
    t.same(
      root.childrenNamed('Tag').map(({ text }) => text),
      ['1', '2'],
    )
    t.throws(() => root.child('Tag'), { name: 'MalformedXmlError', message: /Tagging has more than one Tag/ })
    t.equal(root.child('TagSet'), null)
    t.equal(root.textOf('TagSet'), null)
    t.equal(root.needed('Other').text, '')
    t.throws(() => root.needed('TagSet'), { name: 'MalformedXmlError', message: /Tagging has no TagSet/ })
  })

  const entities = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`)
  const refused: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['nothing', '', /not well-formed/],
    ['white space alone', ' \n', /not well-formed/],
    ['text without an element', 'hello', /not well-formed/],
    ['JSON', '{"Quiet":true}', /not well-formed/],
    ['an element that is not closed', '<Delete><Quiet>', /not well-formed/],
    ['elements that cross', '<a><b></a></b>', /not well-formed/],
    ['two roots', '<a/><b/>', /not well-formed/],
    ['text behind the root', '<a/>b', /not well-formed/],
    ['an attribute twice', '<a b="1" b="2"/>', /not well-formed/],
    ['a document type', '<!DOCTYPE a><a/>', /document type/],
    ['a billion laughs', `<!DOCTYPE l [<!ENTITY l0 "ha">${entities.join('')}]><l>&l9;</l>`, /document type/],
    [
      'an external entity',
      '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
      /document type/,
    ],
    ['an entity that nothing declares', '<a>&nbsp;</a>', /not well-formed/],
    ['a name of Object.prototype as an entity', '<a>&constructor;</a>', /not well-formed/],
    ['a processing instruction', '<?xml-stylesheet href="x"?><a/>', /processing instruction/],
    ['a declaration that is not the first thing', '<a/><?xml version="1.0"?>', /not well-formed/],
    [
      'another encoding',
      '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
      /encoding of the body is ISO-8859-1/,
    ],
    ['bytes that are not UTF-8', Buffer.from('<a>\xe9</a>', 'latin1'), /not UTF-8/],
    ['a character that is cut off', Buffer.from('<a/>\xc3', 'latin1'), /not UTF-8/],
    ['UTF-16 with its mark', Buffer.from('\ufeff<a/>', 'utf16le'), /not UTF-8/],
    ['UTF-16 without', Buffer.from('<a/>', 'utf16le'), /not well-formed/],
    ['a NUL', '<a>\0</a>', /not well-formed/],
    ['a reference to a control character', '<a>&#x1;</a>', /not well-formed/],
    ['a reference to half of a pair', '<a>&#xD800;</a>', /not well-formed/],
    ['a reference beyond Unicode', '<a>&#x110000;</a>', /not well-formed/],
    ['a reference beyond any number', `<a>&#${'9'.repeat(400)};</a>`, /not well-formed/],
    [
      'too many attributes',
      `<a ${Array.from({ length: 17 }, (_, at) => `b${at}="1"`).join(' ')}/>`,
      /16 attributes/,
    ],
  ]
  for (const [what, body, message] of refused)
    t.test(`refuses ${what}`, async (t) => {
      await t.rejects(read(body), { name: 'MalformedXmlError', message })
    })

  t.test('accepts each bound and refuses one more', async (t) => {
    const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
    t.equal((await read(nested(5))).name, 'a')
    await t.rejects(read(nested(6)), { message: /deeper than 5 elements/ })
    t.equal((await read(`<a>${'<b/>'.repeat(99)}</a>`)).children.length, 99)
    await t.rejects(read(`<a>${'<b/>'.repeat(100)}</a>`), { message: /more than 100 elements/ })
    const long = `<a>${'x'.repeat(64 * 1024 - 7)}</a>`
    t.equal((await read(long)).text.length, 64 * 1024 - 7)
    await t.rejects(read(`${long} `), { message: /more than 65536 bytes/ })
  })

  t.test('stops at its bound in 10 MB of nesting, of a document type, of a name, of one text', async (t) => {
    const large = { bytesMax: 20 * 1024 ** 2, elementsMax: 1_000_000, depthMax: 5 }
    for (const [piece, bounds, message] of [
      ['<a>', large, /deeper than 5/],
      ['<!DOCTYPE a [', BOUNDS, /65536 bytes|not well-formed/],
      ['<aaaa', BOUNDS, /65536 bytes|not well-formed/],
      ['<a b="', BOUNDS, /65536 bytes|not well-formed/],
      ['&#1', BOUNDS, /not well-formed/],
    ] as const) {
      let given = 0
      let closed = false
      async function* endless(): AsyncGenerator<Uint8Array> {
        const bytes = Buffer.from(piece.repeat(4_000))
        try {
          for (; given < 10 * 1024 ** 2; given += bytes.length) yield bytes
        } finally {
          closed = true
        }
      }
      await t.rejects(readXml(endless(), bounds), { name: 'MalformedXmlError', message })
      t.ok(given <= 128 * 1024, `read ${given} bytes of ${piece}`)
      t.ok(closed, 'and the source is let go')
    }
  })

  t.test('reads or refuses whatever comes, and does nothing else', async (t) => {
    const bits = fc.constantFrom(
      '<a>',
      '</a>',
      '<b/>',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '&#x',
      '&amp;',
      '<?',
      ' b="',
      '"',
      'é',
      '\0',
    )
    const texts = fc
      .array(fc.oneof(bits, fc.string({ maxLength: 4 })), { maxLength: 12 })
      .map((list) => list.join(''))
    const body = fc.oneof(
      texts.map((text) => Buffer.from(`<a>${text}</a>`)),
      fc.uint8Array({ maxLength: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 20 }), async (bytes, size) => {
        try {
          t.type((await readXml(inPieces(bytes, size), BOUNDS)).name, 'string')
        } catch (error) {
          t.ok(error instanceof MalformedXmlError, String(error))
        }
      }),
      { seed: 19, numRuns: 500 },
    )
  })

  t.test('passes on what its source throws', async (t) => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<a>')
      throw new RangeError('the client went away')
    }
    await t.rejects(readXml(broken(), BOUNDS), { name: 'RangeError' })
  })

  t.test('lets other work in while it reads 10,000 parts, though they come in one piece', async (t) => {
    const part = (number: number) =>
      element('Part', element('PartNumber', number), element('ETag', `"${'a'.repeat(32)}"`))
    const body = xmlDocument(
      element('CompleteMultipartUpload', ...Array.from({ length: 10_000 }, (_, at) => part(at + 1))),
    )
    let turns = 0
    let isReading = true
    const others = (async () => {
      for (; isReading; turns += 1) await nextTurn()
    })()
    const bounds = { bytesMax: 2 * 1024 ** 2, elementsMax: 50_000, depthMax: 5 }
    const root = await readXml(inPieces(body, body.length), bounds)
    isReading = false
    await others
    t.equal(root.childrenNamed('Part').length, 10_000)
    t.equal(root.children.at(-1)?.textOf('PartNumber'), '10000')
    t.ok(turns >= Math.floor(body.length / (16 * 1024)), `${turns} turns`)
  })
})

t.test('MalformedXmlError keeps its cause', async (t) => {
  const cause = new TypeError('why')
  t.equal(new MalformedXmlError('no', { cause }).cause, cause)
})
