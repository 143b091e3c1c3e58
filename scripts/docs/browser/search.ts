/**
 * The search of a page: reads the index when the field is first used, and lists what fits.
 *
 * Rules: it loads the index of its own site alone, and puts texts into the page as text, never as markup.
 */
import MiniSearch, { type SearchResult } from 'minisearch'
import { SEARCH_OPTIONS } from './search-options.ts'

const RESULTS_MAX = 12

const { index: indexUrl = '', root = '' } =
  (document.currentScript as HTMLScriptElement | null)?.dataset ?? {}
const box = document.querySelector<HTMLElement>('.search')
const field = document.querySelector<HTMLInputElement>('.search input')
const list = document.querySelector<HTMLOListElement>('.search ol')

let loading: Promise<MiniSearch> | null = null

async function load(): Promise<MiniSearch> {
  const answer = await fetch(indexUrl)
  if (!answer.ok) throw new Error(`The index of the search had status ${answer.status}`)
  return MiniSearch.loadJSON(await answer.text(), SEARCH_OPTIONS)
}

function rowOf(result: SearchResult): HTMLLIElement {
  const row = document.createElement('li')
  const link = document.createElement('a')
  link.href = `${root}${String(result['url'])}`
  const heading = document.createElement('b')
  heading.textContent = String(result['heading'])
  const page = document.createElement('span')
  page.textContent = String(result['title'])
  const excerpt = document.createElement('p')
  excerpt.textContent = String(result['excerpt'])
  link.append(heading, page, excerpt)
  row.append(link)
  return row
}

function sentence(text: string): HTMLLIElement {
  const row = document.createElement('li')
  row.textContent = text
  return row
}

async function show(words: string, into: HTMLOListElement): Promise<void> {
  into.hidden = words === ''
  if (words === '') return
  try {
    const index = await (loading ??= load())
    // A later word may be there by now.
    if (field?.value.trim() !== words) return
    const found = index.search(words, {
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
      boost: { heading: 4, title: 2 },
    })
    const rows = found.slice(0, RESULTS_MAX).map(rowOf)
    into.replaceChildren(...(rows.length === 0 ? [sentence(`Nothing contains “${words}”`)] : rows))
  } catch (error) {
    loading = null
    into.replaceChildren(sentence(String(error)))
  }
}

if (box !== null && field !== null && list !== null) {
  box.hidden = false
  field.addEventListener('input', () => void show(field.value.trim(), list))
  document.addEventListener('keydown', (event) => {
    const isTyping = document.activeElement instanceof HTMLInputElement
    if (event.key === '/' && !isTyping) {
      event.preventDefault()
      field.focus()
    } else if (event.key === 'Escape') {
      list.hidden = true
      field.blur()
    }
  })
}
// Wide screens show the sections at all times; without this script they open by a click.
const menu = document.querySelector<HTMLDetailsElement>('.menu')
if (menu !== null && matchMedia('(min-width: 56rem)').matches) menu.open = true
