import { expect, test } from 'vitest'
import { untagged } from './support/document-commands.ts'
import { blocksOfPage, PAGES, typePages } from './typed-documents.ts'

test.each(PAGES)('%s: every block says what it is', (page) => {
  expect(untagged(blocksOfPage(page))).toEqual([])
})

typePages(['docs/guides/first-message.md'])
