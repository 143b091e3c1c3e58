/**
 * Mermaid diagrams as SVG files, made at build time without a browser.
 *
 * Rule: an image asks for nothing from elsewhere, and follows the colours of the reader's system.
 */
import { renderMermaidSVG } from 'beautiful-mermaid'

const COLOURS = `svg { --bg: #ffffff; --fg: #1f2328; }
  @media (prefers-color-scheme: dark) { svg { --bg: #15181c; --fg: #e3e6ea; } }
  `

/** Throws when the text is no diagram that can be drawn. */
export function diagramSvg(text: string): string {
  return renderMermaidSVG(text, { font: 'system-ui', transparent: true })
    .replace(/^\s*@import .*$/m, '')
    .replace(/(<svg [^>]*?) style="[^"]*"/, '$1')
    .replace('<style>', `<style>${COLOURS}`)
}
