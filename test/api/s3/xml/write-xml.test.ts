/**
 * XML that goes out: what a parser reads of it is what was meant, whatever the texts are.
 */
import fc from 'fast-check'
import t from 'tap'
import { readXml, type ReadElement } from '../../../../src/api/s3/xml/read-xml.ts'
import {
  element,
  urlEncoded,
  type XmlElement,
  xmlDocument,
  xmlSafe,
} from '../../../../src/api/s3/xml/write-xml.ts'
import { inPieces } from './xml-pieces.ts'

const BOUNDS = { bytesMax: 1024 ** 2, elementsMax: 10_000, depthMax: 20 }
const NO_CHARACTER = /[^\P{Cc}\t\n\r\u007f-\u009f]|[\ufffe\uffff]|\p{Cs}/u
const read = (document: Buffer): Promise<ReadElement> => readXml(inPieces(document), BOUNDS)

t.test('xmlDocument', async (t) => {
  t.test('writes the declaration, the namespace of S3 and children in their order', async (t) => {
    const root = element('Result', element('Name', 'photos'), element('Size', 12), null, false, undefined)
    t.equal(
      xmlDocument(root).toString(),
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Result xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>photos</Name><Size>12</Size></Result>',
    )
    t.equal(xmlDocument(element('Error'), null).toString().split('\n')[1], '<Error/>')
  })

  t.test('writes attributes, escaped like texts', async (t) => {
    const grantee: XmlElement = { name: 'Grantee', attributes: { 'xsi:type': 'a"b\n' }, children: [] }
    t.match(xmlDocument(grantee, null).toString(), '<Grantee xsi:type="a&quot;b&#10;"/>')
  })

  t.test('keeps an empty text and the number 0, which are values', async (t) => {
    const root = element('R', element('Prefix', ''), element('KeyCount', 0))
    t.match(xmlDocument(root, null).toString(), '<R><Prefix></Prefix><KeyCount>0</KeyCount></R>')
  })

  t.test('escapes markup, quotes, line ends and tabs', async (t) => {
    t.match(
      xmlDocument(element('Key', `&<>"'\r\n\t`), null).toString(),
      '<Key>&amp;&lt;&gt;&quot;&apos;&#13;&#10;&#9;</Key>',
    )
  })

  t.test('writes what XML 1.0 cannot carry as S3 does, which strict parsers refuse', async (t) => {
    const document = xmlDocument(element('Key', 'a\u0001b\uffff'), null)
    t.match(document.toString(), '<Key>a&#x1;b&#xFFFF;</Key>')
    await t.rejects(read(document), { name: 'MalformedXmlError' })
    const safe = await read(xmlDocument(element('Key', xmlSafe('a\u0001b\uffff\ud800')), null))
    t.equal(safe.text, 'a\ufffdb\ufffd\ufffd')
  })

  t.test('is read as what was written, for any tree and text', async (t) => {
    const text = fc
      .oneof(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.constantFrom(']]>', '<!--', '&amp;', '\r\n', '%00'),
      )
      .filter((value) => !NO_CHARACTER.test(value))
    const name = fc.constantFrom('Key', 'Contents', 'ETag', 'Owner')
    const { tree } = fc.letrec<{ tree: XmlElement }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(name, text).map(([of, value]) => element(of, value)),
        fc.tuple(name, fc.array(tie('tree'), { maxLength: 4 })).map(([of, list]) => element(of, ...list)),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 50 }), async (root, size) => {
        const found = await readXml(inPieces(xmlDocument(root), size), BOUNDS)
        t.same(plain(found), plain(root))
      }),
      { seed: 19, numRuns: 200 },
    )
  })
})

/** Both kinds of elements as one. */
function plain(root: XmlElement | ReadElement): object {
  const { children, name } = root
  const texts = children.filter((child) => typeof child === 'string')
  const inner = children.filter((child) => typeof child === 'object' && 'name' in child)
  return { name, text: 'text' in root ? root.text : texts.join(''), children: inner.map(plain) }
}

t.test('urlEncoded', async (t) => {
  t.test('encodes as S3 documents it', async (t) => {
    t.equal(urlEncoded('test_file(3).png'), 'test_file%283%29.png')
    t.equal(urlEncoded('photos/2026/a b+c*~.jpg'), 'photos/2026/a%20b%2Bc*%7E.jpg')
    t.equal(urlEncoded('\u0001\r\n\u00e9\u{1f600}'), '%01%0D%0A%C3%A9%F0%9F%98%80')
    t.equal(urlEncoded("!'()&<>%"), '%21%27%28%29%26%3C%3E%25')
  })

  t.test('is decoded as a form is, or as part of an address, for any text', async (t) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = urlEncoded(text)
        t.match(encoded, /^[A-Za-z0-9\-_./*%]*$/)
        t.equal(decodeURIComponent(encoded), text)
      }),
      { seed: 19, numRuns: 300 },
    )
    t.equal(urlEncoded('\ud800'), '%EF%BF%BD', 'half of a pair is no character')
  })
})
