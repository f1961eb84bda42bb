"use strict";

// The report's sentences: English, and what they are in Chinese. A number in braces is filled in.
// English has another word for one ("1 page"); such a sentence stands here as for many.
const CHINESE = {
  // report.html
  "Dropped near-duplicates": "被丢弃的近似重复页面",
  "Skip to the drops": "跳到丢弃列表",
  "Figures": "数字",
  "To check": "待检查",
  "Dark": "深色",
  "colours": "模式",
  "Review": "审阅",
  "Save answers": "保存答案",
  "Saved as answers.csv in your downloads. The thresholds that suit these answers:": "已保存为下载目录中的 answers.csv。用下面的命令求出适合这些答案的阈值：",
  "Kept pages and the pages near them": "保留的页面及与其相近的页面",
  "Drops": "丢弃的页面",
  "Search and filters": "搜索与筛选",
  "Search titles and addresses": "搜索标题和 URL",
  "Run": "运行",
  "Show": "显示",
  "all": "全部",
  "dropped": "丢弃",
  "kept though near": "相近但保留",
  "to check": "待检查",
  "to check, not answered": "待检查且未作答",
  "answered: copy": "已答：重复",
  "answered: another page": "已答：不同页面",
  "answered: don't know": "已答：不确定",
  "Spider": "爬虫",
  "Host": "主机",
  "Reason": "原因",
  "Content distance": "内容指纹距离",
  "Order": "排序",
  "to check first": "待检查的在前",
  "biggest groups first": "最大的组在前",
  "nearest the threshold first": "最接近阈值的在前",
  "newest first": "最新的在前",
  "oldest first": "最早的在前",
  "by address": "按 URL",
  "CSV of these": "导出为 CSV",
  "Pages of the list": "列表翻页",
  "Previous": "上一页",
  "Next": "下一页",
  "Drops and pages kept though near, by content distance": "丢弃的页面和相近但保留的页面：按内容指纹距离",
  "Reasons and hosts": "原因和主机",
  "Settings of the run": "本次运行的设置",
  "Distances are bits in which two fingerprints differ. Times are UTC. Answers stay in this browser until you save them. This file loads nothing and sends nothing.": "距离是两个指纹相差的比特数。时间为 UTC。保存之前，答案只存在本浏览器中。本文件不加载也不发送任何内容。",
  "Side by side": "并排对比",
  "Previous page": "上一个",
  "Next page": "下一个",
  "Close": "关闭",
  "Is this page a copy of the stored one?": "此页面是否与已存储的页面重复？",
  "Copy": "重复",
  "Another page": "不同页面",
  "Don't know": "不确定",
  "Previous difference": "上一处差异",
  "Next difference": "下一处差异",
  "only these": "只看差异",
  "Both texts": "两段文字",

  // charts
  "kept": "保留",
  "Drops and pages kept though near, by content distance, a bar for each; the table after it has the numbers.": "按内容指纹距离统计的丢弃的页面和相近但保留的页面，每个距离一根柱；数值见其后的表格。",
  "bits apart": "相差比特数",
  "threshold {0}": "阈值 {0}",
  "Pages by content distance": "按内容指纹距离统计的页面数",
  "none": "无",

  // overview
  "Reasons": "原因",
  "Hosts": "主机",
  "Hosts, the first of {0}": "主机，共 {0} 个，列出前几个",
  "Nothing was dropped, so there is no reason.": "没有丢弃任何页面，因此没有原因。",
  "The log names no run.": "日志中没有运行记录。",
  "{0} pages": "{0} 个页面",
  "{0} drops": "{0} 次丢弃",
  "{0} near another kept page": "其中 {0} 个与另一保留页面相近",
  "of {0}": "共 {0}",
  "{0} dropped, {1} kept": "丢弃 {0} 个，保留 {1} 个",
  "run {0}": "运行 {0}",
  "spider {0}": "爬虫 {0}",
  "{0}, only {1}": "{0}，仅限 {1}",
  "Answer each: copy (y), another page (n), don't know (d).": "请逐个回答：重复（y）、不同页面（n）或不确定（d）。",
  "{0} runs": "{0} 次运行",
  "run {0} of spider {1}": "爬虫 {1} 的运行 {0}",
  "{0} to {1}": "{0} 至 {1}",
  "{0} of {1}": "{1} 个中的 {0} 个",
  "To check: {0}. {1}": "待检查：{0}。{1}",
  "No drop is at a threshold, has another title or language, or is one of many for a page. {0}": "没有可疑的丢弃：没有正好在阈值上的，没有标题或语言不同的，也没有同一页面的大量丢弃。{0}",
  "{0} whose items were kept (dry run or tagged).": "{0}的 item 保留了下来（试运行或标记）。",
  "Kept without being judged: {0}.": "跳过判重，直接保留：{0}。",
  "How many pages were kept is not known: a run was killed, or still runs.": "保留的页面数未知：有运行被强行终止，或仍在进行。",
  "Listed are the latest {0} drops of {1}.": "列出 {1} 次丢弃中最新的 {0} 次。",
  " of ": "（",
  "no host": "无主机",
  " were dropped for ": "）因与此页重复而丢弃：",
  ", such as ": "；被丢弃的如 ",
  "No drop has a content distance.": "没有丢弃带有内容指纹距离。",
  "{0} without a content distance.": "{0}没有内容指纹距离。",
  "{0} kept pages": "{0} 个保留的页面",
  "{0} bits": "{0} 比特",
  "All settings have their defaults.": "所有设置均为默认值。",
  "{0} settings with their defaults": "{0} 项设置为默认值",

  // the list
  "any": "不限",
  "all runs": "所有运行",
  "the last: {0}": "最近一次：{0}",
  ", ": "，",
  "{0} ({1})": "{0}（{1}）",
  "No page matches.": "没有符合条件的页面。",
  "{0} different pages": "{0} 个 URL",
  "{0} and {1}": "{0}和 {1}",
  "{0} near misses": "{0} 个相近但保留的页面",
  "{0}{1} of {2}": "{0}{1}，对应 {2}",
  " ({0})": "（{0}）",
  "Page {0} of {1}": "第 {0} 页，共 {1} 页",
  "{0}, page {1}": "{0}，第 {1} 页",
  "Show {0} of {1} more": "再显示 {0} 个（还有 {1} 个）",
  "Show {0} more": "再显示 {0} 个",
  "A page the log doesn't name": "日志未记录的页面",
  "Kept": "保留",
  "Kept too": "也保留",
  "Dropped": "丢弃",
  "first kept {0}": "首次保留于 {0}",
  "Compare": "对比",
  " with {0}": "：{0}",
  "copy": "重复",
  "another page": "不同页面",
  "don't know": "不确定",
  "content": "内容",
  "structure": "结构",
  "sketch": "sketch",
  "page-specific text alike": "页面特有文字相似度",
  "main text": "正文占比",
  "All measures": "全部指标",
  "{0} alike": "相似度 {0}",
  "{0} words": "{0} 个词",
  "{0} of the page": "{0}",
  "words": "词数",
  "item kept (dry run or tagged)": "item 已保留（试运行或标记）",

  // answers and two texts
  "{0} answers": "{0} 个答案",
  "{0}, {1} wrongly dropped, {2} wrongly kept.": "{0}，误丢弃 {1} 个，误保留 {2} 个。",
  " This browser keeps none: save them before you close the page.": "本浏览器无法保存答案：关闭页面前请先保存到文件。",
  "Review {0}": "审阅 {0}",
  "Review the {0} to check": "审阅待检查的 {0} 个",
  "Review again": "重新审阅",
  "Drop {0} of {1}": "第 {0} 个（丢弃），共 {1} 个",
  "Near miss {0} of {1}": "第 {0} 个（相近但保留），共 {1} 个",
  "The stored page's text and the other page's, paragraph by paragraph": "已存储页面与另一页面的文字，逐段对照",
  "Main text: the content fingerprint is made of it": "正文：内容指纹由它计算",
  "Outside it: menus, boxes, rows, comments. No part of the content fingerprint": "正文之外：菜单、边栏、表格行、评论，不用于计算内容指纹",
  "{0} differences": "{0} 处差异",
  "{0}, {1} outside the main text": "正文 {0}，正文之外 {1} 处",
  "No difference": "没有差异",
  "a page the log doesn't name": "日志未记录的页面",
  "The texts of these two pages were not kept; the values from the log are above.": "这两个页面的文字没有保存；日志所知的信息见上方。",
  "To have them here after the next crawl, set in settings.py:": "若要在下次爬取后在此查看，请在 settings.py 中设置：",
  "To fetch and compare both now:": "若要现在下载并对比：",

  // reasons of drops
  "main text near that of a kept page": "正文与某保留页面相近",
  "address of a kept page, declared or without tracking, and main texts alike": "声明的或去掉跟踪参数的 URL 与某保留页面相同，正文相似",
  "same item text or row as a kept page": "item 的文字或列表的一行与某保留页面相同",
  "text of a kept page with some words changed or added": "与某保留页面大体相同，只改了或加了几个词",
  "template near that of a kept page": "模板与某保留页面相近",
  "main text and template near those of a kept page": "正文和模板都与某保留页面相近",
  "little text, and the title and text of a kept page": "文字很少，标题和文字与某保留页面相同",
  "error page that differs from kept ones in its address alone": "错误页面，与已保留的只有 URL 不同",
  "known URL, nothing has changed": "已知的 URL，内容没有变化",
  "a person answered that it is a copy of a kept page": "人工判为与某保留页面重复",

  // why a page is to be checked, or was kept though near
  "titles differ": "标题不同",
  "titles or codes tell them apart": "标题或编号不同",
  "fields of the items differ": "item 的字段不同",
  "structures differ": "结构不同",
  "too few elements to compare": "元素太少，无法比较",
  "a person called it another page": "人工判为不同页面",
  "the shared text is of neither page": "相同的文字只是公用提示，不是页面内容",
  "Either the page has many addresses, or a part that pages share was taken for the page.": "要么该页面有许多 URL，要么把许多页面共有的部分当成了页面本身。",
  "many drops of one page": "同一页面的大量丢弃",
  "{0} pages of this host were dropped for it": "该主机有 {0} 个页面因它被丢弃",
  "other language": "语言不同",
  "{0} and {1} in the addresses": "URL 中分别为 {0} 和 {1}",
  "at the threshold": "正好在阈值上",
  "content {0} of {1} bits": "内容 {0}/{1} 比特",
  "structure {0} of {1} bits": "结构 {0}/{1} 比特",
  "sketch {0} of {1} bits": "sketch {0}/{1} 比特",
  "main text is a small part of the page": "正文只占页面的一小部分",
  "{0}% of what the page shows": "页面可见文字的 {0}%",
  "page-specific texts differ": "页面特有文字不同",
  "alike by {0}%": "相似度 {0}%",
  "alike by {0}% of at least {1}%": "相似度 {0}%，要求至少 {1}%",
  "hardly any can be compared": "几乎没有可比较的",
  "all that they share is repeated text or outside the main text": "相同的都是重复的文字，或在正文之外",
  "sketches differ": "sketch 不同",
  "{0} of {1} bits": "{0}/{1} 比特",
  "{0} of at most {1} bits": "相差 {0} 比特，上限 {1}",
  "thin": "内容过少",
  "{0} words, judged by title and text alone": "{0} 个词，仅按标题和文字判断",
};

const LANGUAGE_KEPT_AS = "simhash language";
let language = "en";

// The sentence in the reader's language, with its values filled in.
function say(sentence, ...values) {
  const said = (language === "zh" && CHINESE[sentence]) || sentence;
  return said.replace(/\{(\d)\}/g, (_, place) => values[place]);
}

// "1 page", "2 pages".
function many(count, one, more = `${one}s`) {
  return say(count === 1 && language === "en" ? `{0} ${one}` : `{0} ${more}`, number.format(count));
}

// A doubt in the words of the commands, "at the threshold: content 3 of 3 bits, sketch 18 of 18 bits".
function sayDoubt(doubt) {
  if (language === "en") return doubt;
  const figures = /\d+(?:[.,]\d+)*|\b[a-z]{2}(?= and [a-z]{2} in the addresses| in the addresses)/g;
  const part = (words) => {
    const values = [];
    const sentence = words.replace(figures, (figure) => `{${values.push(figure) - 1}}`);
    return sentence in CHINESE ? say(sentence, ...values) : null;
  };
  const [kind, ...details] = doubt.split(": ");
  const detail = details.join(": ");
  return [say(kind), ...(detail ? [part(detail) ?? detail.split(", ").map((words) => part(words) ?? words).join("，")] : [])].join("：");
}

// The one that the reader chose before, else the first of the browser's that the report has.
function readersLanguage() {
  let kept = null;
  try {
    kept = localStorage.getItem(LANGUAGE_KEPT_AS);
  } catch {
    // the browser lets the file keep nothing
  }
  return kept ?? navigator.languages.map((name) => name.slice(0, 2)).find((name) => name === "en" || name === "zh") ?? "en";
}

function keepLanguage() {
  try {
    localStorage.setItem(LANGUAGE_KEPT_AS, language);
  } catch {
    // it is the browser's again when the file is opened
  }
}

// What the file itself says, before anything of a page is shown.
function sentencesOfTheFile() {
  const found = [];
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, text = node.data, sentence = text.trim();
    if (sentence in CHINESE && !node.parentElement.closest("script, style")) found.push(() => { node.data = text.replace(sentence, () => say(sentence)); });
  }
  for (const named of document.querySelectorAll("[aria-label]")) {
    const sentence = named.getAttribute("aria-label");
    found.push(() => named.setAttribute("aria-label", say(sentence)));
  }
  return found;
}
