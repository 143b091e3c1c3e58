/**
 * The sign and the name of the product.
 */
import { TEXT } from '../words/strings.ts'

export function Brand() {
  return (
    <>
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="6" fill="#0a5fb4" />
        <path d="M9 7v18M23 7v18M9 16h14" stroke="#fff" stroke-width="4" stroke-linecap="round" />
      </svg>
      {TEXT.product}
    </>
  )
}
