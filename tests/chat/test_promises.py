"""What was promised of retrieval in a chat, line by line, and the tests that show each."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]

VECTOR = "chat/test_vector_search.py"
LIMITS = "cli/test_ask_limits.py"
CITED = "chat/test_citations.py"
ANSWERS = "operations/test_answers.py"
OVER_HTTP = "servers/test_http_api.py"

PROMISES = {
    "chunks farther than 1.4 are not sent; the bound itself is": [
        (VECTOR, "test_cutoff_and_fallback"),
        (LIMITS, "test_by_default_what_is_near_enough"),
    ],
    "when none is near enough the best two are sent, ties in their order": [
        (VECTOR, "test_cutoff_and_fallback"),
        (LIMITS, "test_when_nothing_is_near_enough_the_best_are_given"),
    ],
    "the cutoff can be switched off": [
        (VECTOR, "test_cutoff_and_fallback"),
        (LIMITS, "test_without_the_cutoff_everything_is_eligible"),
    ],
    "each limit has its variable in the environment": [
        ("config/test_environment.py", "test_the_older_names"),
        (LIMITS, "test_texts_are_limited_one_by_one_and_together"),
    ],
    "a chunk has 5,000 characters, all texts together 40,000 after they were cut": [
        (VECTOR, "test_a_long_text_is_cut_and_says_which_lines_went"),
        (VECTOR, "test_the_total_counts_texts_after_they_were_cut"),
    ],
    "a total too small for anything gives nothing": [
        (VECTOR, "test_a_total_too_small_for_anything_gives_nothing"),
    ],
    "codebase_question and run_agent_instruction give the answer alone": [
        (ANSWERS, "test_an_answer_has_one_segment_and_nothing_of_how_it_came_about"),
        (ANSWERS, "test_reasoning_and_tools_are_not_in_the_answer"),
        (ANSWERS, "test_an_agent_answers_under_its_name"),
        (ANSWERS, "test_no_text_is_an_empty_segment"),
    ],
    "an archived conversation is the same error as ever": [
        (ANSWERS, "test_an_archived_conversation"),
    ],
    "the best match of a file is its lowest distance, and the store's order stays": [
        (VECTOR, "test_a_file_shows_its_lowest_distance"),
        (VECTOR, "test_duplicates_and_files"),
    ],
    "the shape stays, over HTTP too": [
        (VECTOR, "test_the_shape"),
        (OVER_HTTP, "test_vector_search_keeps_its_shape"),
        (OVER_HTTP, "test_vector_search_keeps_to_the_settings"),
        ("servers/test_http_chat.py", "test_the_chats_search_is_that_of_other_programs"),
    ],
    "every match shows its distance": [
        (VECTOR, "test_the_shape"),
        ("engine/test_chat_service.py", "test_what_a_model_reads_of_a_match"),
    ],
    "no results, and results without numbers, are no failure": [
        (VECTOR, "test_cutoff_and_fallback"),
        (VECTOR, "test_the_shape"),
    ],
    "citations: equal ones once, then the nearest two of a file": [
        (CITED, "test_what_is_cited"),
    ],
    "citations: rows without a place are passed over": [
        (CITED, "test_rows_that_name_no_place_are_passed_over"),
    ],
}


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_has_its_tests(promise: str) -> None:
    for file, name in PROMISES[promise]:
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
