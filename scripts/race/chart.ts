/**
 * The medians of a race as bars, one for each system and row: a picture without scripts, fonts or colours of a page.
 *
 * Rule: a bar is as long as its share of the longest in its row, and its figure stands at its end; rows differ too much for one scale.
 */
import { median } from '../bench/statistics.ts'
import { passesOf, type RaceReport, reasonsAgainst, rowsIn, short } from './report.ts'
import type { Cell } from './turn.ts'

interface Group {
  readonly title: string
  readonly of: (cell: Cell) => number | null
}

const GROUPS: readonly Group[] = [
  { title: 'Operations a second (more is better)', of: ({ perSecond }) => perSecond },
  {
    title: 'Microseconds of processor time of the nodes for an operation (less is better)',
    of: ({ nodeMicros }) => nodeMicros,
  },
]

const WIDTH = 900
const LABEL_WIDTH = 290
const FIGURE_WIDTH = 90
const BAR = { height: 14, gap: 2 } as const
const LINE = 24
/** One for each system, in the order of the legend. */
const COLOURS = ['#1f4e79', '#c55a11', '#548235', '#7f6000', '#7030a0', '#7f7f7f'] as const

export function chartOf(report: RaceReport): string {
  const parts: string[] = []
  let y = LINE
  const text = (x: number, at: number, value: string, style = ''): void => {
    parts.push(`<text x="${x}" y="${at}"${style}>${escaped(value)}</text>`)
  }
  const bold = ' font-weight="bold"'
  text(10, y, `Race, ${report.startedAt}`, bold)
  y += LINE
  const reasons = reasonsAgainst(report)
  if (reasons.length > 0) {
    text(10, y, 'The machine was not quiet: no verdict by time.', ' fill="#c00000"')
    y += LINE
  }
  for (const [at, system] of report.systems.entries()) {
    parts.push(`<rect x="${10 + 180 * at}" y="${y - 11}" width="12" height="12" fill="${colour(at)}"/>`)
    text(28 + 180 * at, y, system)
  }
  for (const { title, of } of GROUPS) {
    y += 2 * LINE
    text(10, y, title, bold)
    for (const { id, name } of rowsIn(report)) {
      const values = report.systems.map((system) => valueOf(report, { system, row: id }, of))
      const most = Math.max(...values.filter((value) => value !== null))
      if (!(most > 0)) continue
      y += 12
      text(10, y + BAR.height, name)
      for (const [at, value] of values.entries()) {
        if (value === null) continue
        const width = Math.max(1, (value / most) * (WIDTH - LABEL_WIDTH - FIGURE_WIDTH))
        parts.push(
          `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR.height}" fill="${colour(at)}"/>`,
        )
        text(LABEL_WIDTH + width + 6, y + BAR.height - 3, short(value))
        y += BAR.height + BAR.gap
      }
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + LINE}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${y + LINE}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function valueOf(report: RaceReport, place: { system: string; row: string }, of: Group['of']): number | null {
  const values = passesOf(report, place)
    .map(of)
    .filter((value) => value !== null && Number.isFinite(value))
    .filter((value) => value !== null)
  return values.length === 0 ? null : median(values)
}

const colour = (at: number): string => COLOURS[at % COLOURS.length] ?? ''

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
