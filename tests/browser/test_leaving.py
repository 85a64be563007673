"""A press on a link to another page counts, however long that page takes to come."""

from playwright.sync_api import WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.conftest import Open
from tests.browser.reading import enter, number, visit


def test_no_report_of_the_choice_follows_a_press_and_brings_the_page_back(new_page: Open) -> None:
    """A report is a run of the page that is being left: after the press it would undo it."""
    held, asked = list[bool](), list[str]()

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def send(message: str | bytes) -> None:
            asked.append(BackMsg.FromString(bytes(message)).rerun_script.page_script_hash)  # type: ignore[arg-type]
            server.send(message)

        socket.on_message(send)
        server.on_message(lambda message: None if held else socket.send(message))

    page = new_page(fresh=True)  # its clock and its connection are not those of other tests
    page.clock.install()
    page.route_web_socket("**/_stcore/stream", connect)
    visit(page, "/")
    learn = page.get_by_role("link", name="Learn", exact=True)
    expect(learn).to_be_visible()
    expect(page.locator(".served")).to_have_count(0)
    held.append(True)  # from now on the server is silent
    enter(number(page, "Upstream gradient g").last, "2")
    learn.click()
    page.clock.run_for(60_000)
    assert asked[-1] not in asked[:-1], "the last run that is asked for is that of Learn"
